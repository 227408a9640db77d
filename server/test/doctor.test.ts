import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { examine, type Finding } from '../src/operations/doctor.ts';
import { startTestApp, type TestApp } from './app.ts';

/** The doctor on a running service: what is right, and what is wrong with advice. */

const timeout = 60_000;
let app: TestApp;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-doctor-'));
  app = await startTestApp({ config: { dataDir: folder } });
});
after(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

async function findings(change: object = {}): Promise<Map<string, Finding>> {
  const { config, db, artifactStore } = app.service.deps;
  const found = await examine({ config: { ...config, baseUrl: app.url, ...change }, db, artifactStore });
  for (const { state, advice } of found) assert.equal(advice === undefined, state === 'ok');
  return new Map(found.map((finding) => [finding.check, finding]));
}

test('a good installation is right in everything but backups', { timeout }, async () => {
  const found = await findings();
  for (const [check, { state, message }] of found) {
    if (check === 'settings' || check === 'disk') continue;
    assert.equal(state, check === 'backups' ? 'warning' : 'ok', `${check}: ${message}`);
  }
  for (const check of ['database', 'key', 'files', 'clock', 'address', 'websocket']) assert.ok(found.has(check), check);
});

test('what is wrong is found', { timeout }, async () => {
  await chmod(folder, 0o755);
  const found = await findings({ encryptionKey: 'another key of more than thirty-two bytes' });
  assert.equal(found.get('permissions')?.state, 'warning');
  // Sealed by the first look of a start, which tests do not have.
  const { rows } = await app.database.database.pool.query('select key_canary from installation');
  if (rows[0].key_canary !== null) assert.equal(found.get('key')?.state, 'failed');
  assert.equal((await findings({ baseUrl: 'http://127.0.0.1:1' })).get('address')?.state, 'failed');
});

test('a proxy that drops upgrades, or leads elsewhere, is found', { timeout }, async () => {
  const stranger = createServer((_request, response) => response.end('hello'));
  const dropping = createServer(async (request, response) => {
    const answer = await fetch(new URL(request.url ?? '/', app.url));
    response.writeHead(answer.status).end(await answer.text());
  });
  for (const server of [stranger, dropping]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const addressOf = (server: typeof stranger): string => {
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  };
  try {
    assert.equal((await findings({ baseUrl: addressOf(stranger) })).get('address')?.state, 'failed');
    const found = await findings({ baseUrl: addressOf(dropping) });
    assert.deepEqual([found.get('address')?.state, found.get('websocket')?.state], ['ok', 'failed']);
  } finally {
    stranger.close();
    dropping.close();
  }
});
