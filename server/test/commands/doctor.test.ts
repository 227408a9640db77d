import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { examine } from '../../src/commands/doctor.ts';
import type { Finding } from '../../src/commands/finding.ts';
import { pace } from '../../src/http/stream-chunks.ts';
import { startTestApp, type TestApp } from '../app.ts';

/** The doctor on a running service: correct settings, and mistakes with advice. */

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

test('reports a good installation as correct in everything but backups', async () => {
  const found = await findings();
  for (const [check, { state, message }] of found) {
    if (check === 'settings' || check === 'disk') continue;
    assert.equal(state, check === 'backups' ? 'warning' : 'ok', `${check}: ${message}`);
  }
  for (const check of ['database', 'key', 'files', 'clock', 'workspaces', 'address', 'websocket', 'streams'])
    assert.ok(found.has(check), check);
});

test('finds mistakes of an installation', async () => {
  await chmod(folder, 0o755);
  const found = await findings({ encryptionKey: 'another key of more than thirty-two bytes' });
  assert.equal(found.get('permissions')?.state, 'warning');
  // Sealed by the first check of a start, which tests do not have.
  const { rows } = await app.database.database.pool.query('select key_canary from installation');
  if (rows[0].key_canary !== null) assert.equal(found.get('key')?.state, 'failed');
  assert.equal((await findings({ baseUrl: 'http://127.0.0.1:1' })).get('address')?.state, 'failed');
});

test('finds a proxy that drops upgrades, or leads elsewhere', async () => {
  const stranger = createServer((_request, response) => response.end('hello'));
  const dropping = createServer(async (request, response) => {
    const answer = await fetch(new URL(request.url ?? '/', app.url));
    response.writeHead(answer.status).end(await answer.text());
  });
  for (const server of [stranger, dropping]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  try {
    assert.equal((await findings({ baseUrl: addressOf(stranger) })).get('address')?.state, 'failed');
    const found = await findings({ baseUrl: addressOf(dropping) });
    assert.deepEqual([found.get('address')?.state, found.get('websocket')?.state], ['ok', 'failed']);
  } finally {
    stranger.close();
    dropping.close();
  }
});

const addressOf = (server: Server): string => {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
};

test('finds a proxy that buffers streams, and accepts one that forwards them', async () => {
  const passing = createServer((incoming, outgoing) => {
    const asked = request(new URL(incoming.url ?? '/', app.url), { headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    asked.end();
  });
  const holding = createServer(async (incoming, outgoing) => {
    const answer = await fetch(new URL(incoming.url ?? '/', app.url));
    const text = await answer.text();
    // As buffers of a proxy do: in two pieces, one right after the other.
    outgoing.writeHead(answer.status).write(text.slice(0, 5));
    outgoing.end(text.slice(5));
  });
  const breaking = createServer((incoming, outgoing) => {
    if (incoming.url === '/api/live')
      return void outgoing.end(JSON.stringify({ version: app.service.deps.config.version }));
    outgoing.writeHead(200).write('data');
    outgoing.destroy();
  });
  const servers = [passing, holding, breaking];
  for (const server of servers) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const look = async (server: Server) => (await findings({ baseUrl: addressOf(server) })).get('streams');
  // A pause of the machine between the two pieces looks like an unbuffered stream: then the check is repeated.
  const lookUntilFailed = () =>
    until('the one that holds back is found', async () => {
      const found = await look(holding);
      return found?.state === 'failed' && found;
    });
  try {
    const [passed, held, broken] = await Promise.all([look(passing), lookUntilFailed(), look(breaking)]);
    assert.equal(passed?.state, 'ok', passed?.message);
    assert.match(held.message, /all at once/);
    assert.match(broken?.message ?? '', /break off/);
  } finally {
    for (const server of servers) server.close();
  }
});

test('limits trial streams, and closing one frees its place', async (t) => {
  // None of them ends before all are requested, however long that takes.
  const slower = t.mock.property(pace, 'pieceMs', 60_000);
  const leaving = new AbortController();
  const streams = await Promise.all(
    Array.from({ length: 21 }, () => fetch(`${app.url}/api/live/stream`, { signal: leaving.signal })),
  );
  assert.deepEqual(
    streams.map(({ status }) => status).sort((a, b) => a - b),
    [...Array.from({ length: 20 }, () => 200), 429],
  );
  slower.mock.restore();
  leaving.abort();
  for (;;) {
    const again = await fetch(`${app.url}/api/live/stream`);
    if (again.status === 200) {
      assert.equal((await again.text()).match(/^data: \{"piece":\d\}$/gm)?.length, 4);
      return;
    }
    await again.arrayBuffer();
  }
});

test('really tries a workspace, and reports why it does not work', async () => {
  const off = await findings({ workspaceMode: 'disabled' });
  assert.match(off.get('workspaces')?.message ?? '', /switched off/);
  const dead = { workspaceMode: 'docker', workspaceDockerHost: 'unix:///nowhere/docker.sock' } as const;
  const docker = (await findings(dead)).get('workspaces');
  assert.equal(docker?.state, 'failed');
  assert.match(docker?.message ?? '', /no Docker engine answers at unix:\/\/\/nowhere/);
  const local = (await findings({ workspaceMode: 'auto' })).get('workspaces');
  const isThere = local?.state === 'ok';
  assert.match(
    local?.message ?? '',
    isThere ? /a test sandbox started and ran a command/ : /Workspaces do not work here: ./,
  );
  assert.equal(local?.state, isThere ? 'ok' : 'warning');
  const left = await readdir(join(folder, 'workspaces')).catch(() => []);
  assert.deepEqual(
    left.filter((name) => name.startsWith('probe-')),
    [],
  );
});
