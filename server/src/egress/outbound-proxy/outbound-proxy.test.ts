import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProxyChoice, isProxyException, parseProxy } from './outbound-proxy.ts';

const httpsProxy = 'http://secure.example:3128';
const httpProxy = 'http://plain.example:3128';

/** The host of the proxy that is chosen for a name with these addresses; `direct` if none is. */
function chosen(noProxy: string[], hostname: string, address = '93.184.216.34', secure = true): string {
  const choose = createProxyChoice({ httpsProxy, httpProxy, noProxy });
  return choose({ secure, hostname, port: secure ? 443 : 80 }, [address])?.hostname ?? 'direct';
}

test('uses the proxy of each scheme, and none for this machine', () => {
  assert.equal(chosen([], 'api.example.org'), 'secure.example');
  assert.equal(chosen([], 'api.example.org', '93.184.216.34', false), 'plain.example');
  assert.equal(
    createProxyChoice({ httpProxy })({ secure: true, hostname: 'a.org', port: 443 }, ['1.1.1.1']),
    undefined,
  );
  for (const address of ['127.0.0.1', '127.8.8.8', '::1'])
    assert.equal(chosen([], 'model.example.org', address), 'direct');
});

test('NO_PROXY takes names with their subdomains, ports, addresses, ranges and *', () => {
  for (const [entry, hostname, address] of [
    ['example.org', 'EXAMPLE.org', undefined],
    ['example.org', 'api.example.org', undefined],
    ['.example.org', 'api.example.org', undefined],
    ['*.example.org', 'api.example.org', undefined],
    ['example.org:443', 'example.org', undefined],
    ['*', 'anything.test', undefined],
    ['10.0.0.0/8', 'model.corp.example', '10.2.3.4'],
    ['10.2.3.4', '10.2.3.4', '10.2.3.4'],
    ['[fd00::1]', 'fd00::1', 'fd00::1'],
    ['fd00::/8', 'model.corp.example', 'fd12::7'],
  ] as const) {
    assert.ok(isProxyException(entry), entry);
    assert.equal(chosen([entry], hostname, address), 'direct', entry);
  }
  for (const [entry, hostname, address] of [
    ['example.org', 'badexample.org', undefined],
    ['example.org', 'example.org.evil.test', undefined],
    ['example.org:8443', 'example.org', undefined],
    ['10.0.0.0/8', 'model.corp.example', '11.2.3.4'],
  ] as const) {
    assert.equal(chosen([entry], hostname, address), 'secure.example', entry);
  }
  for (const entry of ['http://a.org', '10.0.0.0/33', 'a b', 'a.*.org', '']) assert.ok(!isProxyException(entry), entry);
});

test('accepts an http or https URL without a path and sends its name and password as a header', () => {
  const { authorization, ...address } = parseProxy('https://me:p%40ss@proxy.example') ?? assert.fail();
  assert.deepEqual(address, { secure: true, hostname: 'proxy.example', port: 443 });
  assert.equal(Buffer.from(authorization?.slice('Basic '.length) ?? '', 'base64').toString(), 'me:p@ss');
  assert.deepEqual(parseProxy('[::1]:3128'), { secure: false, hostname: '::1', port: 3128, authorization: undefined });
  for (const bad of ['socks5://proxy:1080', 'http://proxy/path', 'http://', 'http://%zz@proxy', 'http://a:%zz@proxy']) {
    assert.equal(parseProxy(bad), undefined, bad);
  }
});
