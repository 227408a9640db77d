import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../app.ts';
import { makeCertificates } from '../fakes/certificates.ts';

/** Addresses whose certificates are not valid: the error names the problem and the remedy. */

let app: TestApp;
const folder = mkdtempSync(join(tmpdir(), 'homeport-certificates-'));
before(async () => {
  app = await startTestApp();
});
after(async () => {
  await app.stop();
  rmSync(folder, { recursive: true });
});

async function withServer(server: ReturnType<typeof createPlainServer>, work: (url: string) => Promise<void>) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  try {
    await work(`https://127.0.0.1:${address.port}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

async function expectWords(url: string, certificate: string, words: RegExp): Promise<void> {
  const admin = await app.signIn({ role: 'admin' });
  const added = await admin.call('POST /api/mcp', { name: 'Notes', url: `${url}/mcp` });
  assert.equal(added.status, 201, added.text);
  assert.match(added.body.server.lastError, words);
  const tried = await admin.call('POST /api/mcp/test', { id: added.body.server.id });
  assert.deepEqual(tried.body.error.details, { reason: 'tls', certificate });
  assert.match(tried.body.error.message, words);
}

test('names a self-signed certificate and NODE_EXTRA_CA_CERTS', async () => {
  const { key, cert } = makeCertificates(folder, ['127.0.0.1']);
  await withServer(createServer({ key, cert }), (url) =>
    expectWords(url, 'untrusted', /authority of its certificate is unknown.*NODE_EXTRA_CA_CERTS/),
  );
});

test('names a server without TLS at an https address', () =>
  withServer(createPlainServer(), (url) => expectWords(url, 'not_tls', /does not use TLS; use http instead of https/)));
