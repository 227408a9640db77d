import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AddressClass, canonicalAddress, classifyAddress } from './addresses.ts';

const cases: Record<AddressClass, string[]> = {
  public: [
    '1.1.1.1',
    '9.255.255.255',
    '172.32.0.1',
    '192.0.1.1',
    '198.20.0.1',
    '2606:4700::1111',
    '::ffff:1.1.1.1',
    '64:ff9b::101:101',
  ],
  private: [
    '10.1.2.3',
    '127.0.0.1',
    '172.31.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '198.18.0.1',
    '::1',
    'fd00::1',
    'fec0::1',
    '64:ff9b:1::1',
  ].concat('::ffff:127.0.0.1', '::ffff:c0a8:1', '64:ff9b::a00:1'),
  never: [
    '0.0.0.0',
    '169.254.169.254',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::2',
    '::7f00:1',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'fd00:ec2::254',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '4000::1',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '',
    'localhost',
    '1.2.3.4.5',
  ],
};

for (const [expected, addresses] of Object.entries(cases)) {
  test(`addresses of class ${expected}`, () => {
    for (const address of addresses) assert.equal(classifyAddress(address), expected, address);
  });
}

test('one spelling per address', () => {
  assert.equal(canonicalAddress('::ffff:10.0.0.5'), canonicalAddress('10.0.0.5'));
  assert.equal(canonicalAddress('2001:DB8::0001'), canonicalAddress('2001:db8:0:0:0:0:0:1'));
  assert.notEqual(canonicalAddress('::1'), canonicalAddress('127.0.0.1'));
});
