import assert from 'node:assert/strict';
import type { NetworkInterfaceInfo } from 'node:os';
import { test } from 'node:test';
import { networkOrigin } from './network-origin.ts';

const address = (value: string, change: Partial<NetworkInterfaceInfo> = {}): NetworkInterfaceInfo =>
  ({
    address: value,
    family: 'IPv4',
    internal: false,
    netmask: '255.255.255.0',
    mac: '00:00:00:00:00:01',
    cidr: `${value}/24`,
    ...change,
  }) as NetworkInterfaceInfo;
const machine = {
  lo: [address('127.0.0.1', { internal: true })],
  docker0: [address('172.17.0.1')],
  'br-1a2b': [address('172.18.0.1')],
  eth0: [address('fe80::1', { family: 'IPv6' }), address('169.254.3.4'), address('192.168.1.20')],
};
const everywhere = { baseUrl: undefined, host: '0.0.0.0' };

test('gives the address at which other devices of the network reach this machine', () => {
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000']) {
    assert.equal(networkOrigin(everywhere, origin, machine), 'http://192.168.1.20:3000', origin);
    assert.equal(networkOrigin({ ...everywhere, host: '::' }, origin, machine), 'http://192.168.1.20:3000', origin);
  }
});

test('gives none where others would not get through', () => {
  const origin = 'http://localhost:3000';
  assert.equal(networkOrigin({ baseUrl: undefined, host: '127.0.0.1' }, origin, machine), undefined);
  assert.equal(networkOrigin({ baseUrl: origin, host: '0.0.0.0' }, origin, machine), undefined);
  assert.equal(networkOrigin(everywhere, 'http://192.168.1.20:3000', machine), undefined);
  assert.equal(networkOrigin(everywhere, origin, { lo: machine.lo, docker0: machine.docker0 }), undefined);
});
