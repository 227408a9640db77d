import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import { ApiError } from '@homeport/contracts/errors';
import { mustBlock, readSsrfVectors, type SsrfVector, settingNames, settings } from '../../test/fakes/ssrf-vectors.ts';
import { classifyAddress } from './addresses.ts';
import {
  assertPermitted,
  assertPermittedClass,
  type EgressPolicy,
  hostOf,
  isLocalhost,
  isPrivateName,
  parseDestination,
} from './destination.ts';

function isRefused(vector: SsrfVector, policy: EgressPolicy): boolean {
  const url = parseDestination(vector.url);
  if (url === undefined) return true;
  const host = hostOf(url.hostname);
  try {
    assertPermitted(policy, url.protocol === 'https:', host);
    if (isIP(host) !== 0 || isLocalhost(host)) return false;
    const answers = (vector.dns ?? []).flat();
    if (!vector.rebind) for (const answer of answers) assertPermittedClass(policy, classifyAddress(answer));
    return false;
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'blocked_destination', String(error));
    return true;
  }
}

for (const name of settingNames) {
  test(`every vector is judged right with setting ${name}`, () => {
    const vectors = readSsrfVectors().filter((vector) => vector.layer === undefined && !vector.rebind);
    assert.ok(vectors.length > 180);
    const wrong = vectors.filter((vector) => isRefused(vector, settings[name]) !== mustBlock(vector, name));
    assert.deepEqual(
      wrong.map(({ id, url, why }) => ({ id, url, why })),
      [],
    );
  });
}

test('an address is taken as text only in the forms that mean one thing', () => {
  for (const raw of [
    'https://pub.test/\u0000',
    'https://pub.test/ x',
    ' https://pub.test/',
    'https://pub.test/\ud800',
    `https://pub.test/${'x'.repeat(8192)}`,
    'https://pub.test:0/',
    'https://@pub.test/',
    'https:@pub.test/',
    'https:\\\\user@pub.test/',
    'https://pub..test/',
    `https://${'x'.repeat(64)}.test/`,
    'pub.test',
  ]) {
    assert.equal(parseDestination(raw), undefined, JSON.stringify(raw));
  }
  assert.equal(parseDestination('https://pub.test/@user?x=@#@')?.href, 'https://pub.test/@user?x=@#@');
});

test('a relative reference needs a base, and cannot bring credentials', () => {
  const base = new URL('https://pub.test/a/b');
  assert.equal(parseDestination('../c@d', base)?.href, 'https://pub.test/c@d');
  assert.equal(parseDestination('//other.test/', base)?.href, 'https://other.test/');
  assert.equal(parseDestination('//user@other.test/', base), undefined);
  assert.equal(parseDestination('/\\user@other.test/', base), undefined);
});

test('names that only a private network knows', () => {
  for (const host of ['ollama', 'db.internal', 'nas.local', 'x.home.arpa', 'DB.Corp'])
    assert.equal(isPrivateName(host), true, host);
  for (const host of ['api.openai.com', 'local.example', 'internal.example.com'])
    assert.equal(isPrivateName(host), false, host);
});
