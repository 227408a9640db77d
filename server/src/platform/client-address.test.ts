import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressBucket, addressRegion } from './client-address.ts';

test('addresses that one customer can take count as one', () => {
  assert.equal(addressBucket('203.0.113.7'), '203.0.113.7');
  assert.equal(addressBucket('::ffff:203.0.113.7'), '203.0.113.7');
  assert.equal(addressBucket('2001:db8:1:2:3::4'), addressBucket('2001:db8:1:2:ffff::1'));
  assert.notEqual(addressBucket('2001:db8:1:2::1'), addressBucket('2001:db8:1:3::1'));
});

test('a wider network takes turns as one: an IPv4 /24, an IPv6 /48', () => {
  assert.equal(addressRegion('203.0.113.7'), '203.0.113.0/24');
  assert.equal(addressRegion('::ffff:203.0.113.250'), '203.0.113.0/24');
  assert.notEqual(addressRegion('203.0.112.7'), addressRegion('203.0.113.7'));
  assert.equal(addressRegion('2001:db8:1:2::1'), '2001:db8:1::/48');
  assert.equal(addressRegion('2001:db8:1:ffff:a:b:c:d'), '2001:db8:1::/48');
  assert.notEqual(addressRegion('2001:db8:2::1'), addressRegion('2001:db8:1::1'));
  assert.equal(addressRegion('not an address'), 'not an address');
});
