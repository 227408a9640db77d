import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Provider } from '@homeport/contracts/catalogue/catalogue';
import {
  originLeft,
  providerBody,
  providerFaults,
  providerField,
  providerTestBody,
  providerValues,
} from './provider-values.ts';

const stored: Provider = {
  id: 'p1',
  name: 'Box',
  kind: 'openai',
  baseUrl: 'https://box.example/v1',
  hasApiKey: true,
  headers: { 'X-Team': 'a' },
  enabled: true,
  firstByteSeconds: null,
  canEdit: true,
  region: null,
  onlyRegions: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  models: [],
};
const touched =
  (...fields: string[]) =>
  (field: string) =>
    fields.includes(field);
const t = (id: string) => id;

test('an untouched key and untouched headers are left out of the body', () => {
  assert.deepEqual(providerBody(providerValues(stored), touched()), { name: 'Box', baseUrl: 'https://box.example/v1' });
  assert.equal(providerBody({ ...providerValues(stored), kind: 'gemini' }, touched('kind')).kind, 'gemini');
});

test('a new key is sent, a removed one is null', () => {
  assert.equal(providerBody({ ...providerValues(stored), apiKey: ' sk-1 ' }, touched()).apiKey, 'sk-1');
  assert.equal(providerBody({ ...providerValues(stored), clearsKey: true }, touched()).apiKey, null);
});

test('sends the wait for the first byte as a number, and null for the default', () => {
  const slow = { ...providerValues(stored), firstByteSeconds: ' 900 ' };
  assert.equal(providerBody(slow, touched('firstByteSeconds')).firstByteSeconds, 900);
  assert.equal(providerBody({ ...slow, firstByteSeconds: '' }, touched('firstByteSeconds')).firstByteSeconds, null);
  for (const typed of ['9', '3601', 'soon', '12.5']) {
    assert.notEqual(providerFaults({ ...slow, firstByteSeconds: typed }, t).firstByteSeconds, null, typed);
  }
  assert.equal(providerFaults(slow, t).firstByteSeconds, null);
});

test('the stored key is tested at the stored address only', () => {
  const values = { ...providerValues(stored), baseUrl: 'https://other.example/v1' };
  assert.deepEqual(providerTestBody(providerValues(stored), stored, touched()), { id: 'p1' });
  assert.equal(providerTestBody(values, stored, touched('baseUrl')), undefined);
  assert.deepEqual(providerTestBody({ ...values, apiKey: 'sk-2' }, stored, touched('baseUrl', 'headers')), {
    kind: 'openai',
    baseUrl: 'https://other.example/v1',
    apiKey: 'sk-2',
    headers: { 'X-Team': 'a' },
  });
  assert.equal(providerTestBody({ ...values, apiKey: 'sk-2' }, stored, touched('baseUrl')), undefined);
  assert.deepEqual(providerTestBody({ ...values, clearsKey: true }, { ...stored, headers: {} }, touched('baseUrl')), {
    kind: 'openai',
    baseUrl: 'https://other.example/v1',
    headers: { 'X-Team': 'a' },
  });
});

test('keeps stored credentials with their origin, regardless of its spelling', () => {
  const address = 'https://box.example/v1';
  for (const same of ['https://box.example/other', ' HTTPS://BOX.example:443/v1 ', 'https://', '']) {
    assert.equal(originLeft({ address }, same), undefined, same);
  }
  for (const next of ['http://box.example/v1', 'https://box.example:8443/v1', 'https://box.example.org/v1']) {
    assert.equal(originLeft({ address }, next), 'https://box.example', next);
  }
  const moved = { address, credentialsOrigin: 'https://old.example' };
  assert.equal(originLeft(moved, address), 'https://old.example');
  assert.equal(originLeft(moved, 'https://old.example/v1'), undefined);
  assert.equal(originLeft(undefined, address), undefined);
});

test('ignores blank header rows and rejects duplicate and invalid names', () => {
  const rows = [
    { key: '1', name: 'X-A', value: '1' },
    { key: '2', name: 'x-a', value: '2' },
    { key: '3', name: 'not ok', value: '' },
    { key: '4', name: '', value: '' },
  ];
  const faults = providerFaults({ ...providerValues(stored), headers: rows }, t);
  assert.equal(faults['headers.0.name'], null);
  assert.equal(faults['headers.1.name'], 'provider.headerTwice');
  assert.equal(faults['headers.2.name'], 'provider.headerBadName');
  assert.equal(faults['headers.3.name'], undefined);
});

test('shows an error of the request at its row', () => {
  const values = providerValues(stored);
  assert.equal(providerField('headers.x-team', values), 'headers.0.name');
  assert.equal(providerField('headers.gone', values), undefined);
  assert.equal(providerField('baseUrl', values), 'baseUrl');
});

test('asks for the key of a known provider on the internet', () => {
  const fault = (values: object, hasStoredKey = false) =>
    providerFaults({ ...providerValues(undefined), name: 'A', ...values }, t, hasStoredKey).apiKey;
  for (const baseUrl of ['https://api.openai.com/v1', ' https://api.openai.com', 'https://api.anthropic.com'])
    assert.equal(fault({ baseUrl }), 'provider.apiKeyNeeded', baseUrl);
  const baseUrl = 'https://api.openai.com/v1';
  assert.equal(fault({ baseUrl, apiKey: 'sk-1' }), null);
  assert.equal(fault({ baseUrl, headers: [{ key: 'a', name: 'authorization', value: 'Bearer x' }] }), null);
  assert.equal(fault({ baseUrl }, true), null);
  assert.equal(fault({ baseUrl, clearsKey: true }, true), 'provider.apiKeyNeeded');
  for (const other of ['http://localhost:11434/v1', 'https://box.example/v1', '', 'nothing'])
    assert.equal(fault({ baseUrl: other }), null, other);
});
