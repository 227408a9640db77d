import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OidcConfiguration } from '@homeport/contracts/accounts/single-sign-on';
import {
  connectionOf,
  originOfSecret,
  readDomains,
  singleSignOnFaults,
  singleSignOnPatch,
  singleSignOnValues,
} from './single-sign-on-values.ts';

const t = (id: string) => id;
const stored: OidcConfiguration = {
  enabled: false,
  providerKey: 'sso',
  label: 'Single sign-on',
  issuer: '',
  discoveryUrl: '',
  clientId: '',
  hasClientSecret: true,
  scopes: 'openid profile email',
  autoProvision: false,
  linkByEmail: false,
  allowedDomains: [],
  trustEmail: false,
  prompt: 'none',
  endSession: false,
  syncProfile: false,
  tokenAuth: 'auto',
};
const values = singleSignOnValues(stored);
const faultsOf = (changes: Partial<typeof values>) =>
  Object.entries(singleSignOnFaults({ ...values, ...changes }, t)).flatMap(([name, fault]) => (fault ? [name] : []));

test('requires an issuer and a client only while single sign-on is on', () => {
  assert.deepEqual(faultsOf({}), []);
  assert.deepEqual(faultsOf({ enabled: true }), ['issuer', 'clientId']);
  assert.deepEqual(faultsOf({ enabled: true, issuer: 'https://id.example.org', clientId: 'homeport' }), []);
  assert.deepEqual(faultsOf({ issuer: 'id.example.org', providerKey: '-a', label: ' ' }), [
    'label',
    'providerKey',
    'issuer',
  ]);
});

test('sends a new secret, null for a removed one, and otherwise none', () => {
  assert.equal('clientSecret' in singleSignOnPatch(values), false);
  assert.equal(singleSignOnPatch({ ...values, clientSecret: 'x' }).clientSecret, 'x');
  assert.equal(singleSignOnPatch({ ...values, clearsSecret: true }).clientSecret, null);
});

test('keeps the stored secret with the origin that it was entered for', () => {
  const issuer = 'https://id.example.org';
  const known = { ...stored, issuer };
  const filled = singleSignOnValues(known);
  const leftWith = (changes: Partial<typeof values>) => originOfSecret(known, { ...filled, ...changes });
  assert.equal(leftWith({}), undefined);
  assert.equal(leftWith({ issuer: `${issuer}/tenant` }), undefined);
  assert.equal(leftWith({ issuer: 'https://new.example.org' }), issuer);
  assert.equal(leftWith({ discoveryUrl: 'https://new.example.org/discovery' }), issuer);
  assert.equal(leftWith({ issuer: 'https://new.example.org', discoveryUrl: `${issuer}/discovery` }), undefined);
  assert.equal(leftWith({ issuer: 'https://new.example.org', clientSecret: 'x' }), undefined);
  assert.equal(leftWith({ issuer: 'https://new.example.org', clearsSecret: true }), undefined);
  const moved = { ...known, credentialsOrigin: 'https://old.example.org' };
  assert.equal(originOfSecret(moved, filled), 'https://old.example.org');
  assert.equal(originOfSecret({ ...moved, hasClientSecret: false }, filled), undefined);
});

test('invalidates a test result when a relevant value changes', () => {
  assert.equal(connectionOf({ ...values, label: 'Other', issuer: ' ' }), connectionOf(values));
  assert.notEqual(connectionOf({ ...values, clientSecret: 'x' }), connectionOf(values));
});

test('parses domains from lists and addresses', () => {
  assert.deepEqual(readDomains('Example.org, @a.example\nada@b.example; example.org nonsense -x.org'), {
    domains: ['example.org', 'a.example', 'b.example'],
    bad: ['nonsense', '-x.org'],
  });
});
