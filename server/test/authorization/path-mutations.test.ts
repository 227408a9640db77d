import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { EndpointSpec } from '@homeport/contracts/endpoint';
import { endpoints } from '@homeport/contracts/endpoints';
import { sendRaw } from '../raw-request.ts';
import { type Actor, makeWorld, type World } from './authorization-world.ts';

/**
 * Other spellings of a protected path reach no handler without a session: neither past the guard nor past the router.
 */

// The server writes the product's name into the title.
const page = '<p>the page</p>';
let folder: string;
let world: World;
let user: Actor;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-page-'));
  writeFileSync(join(folder, 'index.html'), `<!doctype html><title>Homeport</title>${page}`);
  world = await makeWorld('community', folder);
  user = await world.makeActor('plain user');
});
after(async () => {
  await world.stop();
  rmSync(folder, { recursive: true });
});

const mutations: [form: string, of: (path: string) => string][] = [
  ['double slash first', (path) => `/${path}`],
  ['double slash inside', (path) => path.replace('/api/', '/api//')],
  ['backslash', (path) => path.replace('/api/', '/api\\')],
  ['dot segment', (path) => path.replace('/api/', '/api/./')],
  ['dot-dot segment', (path) => path.replace('/api/', '/api/health/../')],
  ['dot-dot from the page', (path) => `/settings/..${path}`],
  ['encoded slash', (path) => path.replace('/api/', '/api%2f')],
  ['encoded slash, twice', (path) => path.replace('/api/', '/api%252f')],
  ['encoded dot-dot', (path) => path.replace('/api/', '/api/health/..%2f')],
  ['encoded letter', (path) => path.replace('/api/', '/%61pi/')],
  ['encoded dots', (path) => path.replace('/api/', '/api/health/%2e%2e/')],
  ['path parameter', (path) => `${path};x=1`],
  ['path parameter inside', (path) => path.replace('/api/', '/api;x/')],
  ['trailing slash', (path) => `${path}/`],
  ['trailing dot', (path) => `${path}.`],
  ['extension', (path) => `${path}.json`],
  ['upper case', (path) => path.toUpperCase()],
  ['NUL', (path) => `${path}%00`],
  ['encoded question mark', (path) => `${path}%3Fx=1`],
  ['line break', (path) => `${path}%0d%0a`],
  ['overlong encoding', (path) => path.replace('/api/', '/api%c0%af')],
  ['absolute-form target', (path) => `http://localhost${path}`],
  ['absolute-form target of another host', (path) => `http://elsewhere.example${path}`],
  ['absolute-form target with a name in it', (path) => `http://a:b@localhost//${path}`],
  ['no slash', (path) => path.slice(1)],
  ['asterisk', () => '*'],
  ['fragment', (path) => `/api/missing#${path}`],
  ['dot-dot out of an invalid host', (path) => `//[/../..${path}`],
];

const protectedSpecs: EndpointSpec[] = Object.values(endpoints).filter(({ access }) => access !== 'public');

for (const [form, mutate] of mutations) {
  test(`${form}: never returns API data without a session`, async () => {
    for (const { method, path, body } of protectedSpecs) {
      const target = mutate(path.replace(/:\w+/g, 'x'));
      const content = body === undefined ? '' : 'content-type: application/json\r\ncontent-length: 2\r\n';
      const request = `${method} ${target} HTTP/1.1\r\nhost: localhost\r\n${content}connection: close\r\n\r\n`;
      const answer = await sendRaw(world.app.url, content === '' ? request : `${request}{}`);
      const where = `${method} ${target}: ${answer.head}\n${answer.body}`;
      assert.ok(answer.status >= 400 && answer.status < 500, where);
      const isPage = answer.body.includes(page);
      const isError =
        /"code":"(unauthorized|invalid_api_key|not_found|method_not_allowed|invalid_request)"/.test(answer.body) ||
        /"type":"(authentication_error|not_found_error|invalid_request_error)"/.test(answer.body);
      assert.ok(isPage || isError || /^Not found$/.test(answer.body), where);
    }
  });
}

test('a session cookie does not apply to another spelling of the host or the method', async () => {
  const cookie = `cookie: ${user.cookie}\r\n`;
  for (const override of ['x-http-method-override: DELETE', 'x-method-override: DELETE', 'x-original-url: /api/me']) {
    const request = `GET /api/providers?_method=DELETE&id=${user.records.provider} HTTP/1.1\r\nhost: localhost\r\n${cookie}`;
    const answer = await sendRaw(world.app.url, `${request}${override}\r\nconnection: close\r\n\r\n`);
    assert.equal(answer.status, 200);
    assert.match(answer.body, new RegExp(user.records.provider));
  }
});
