import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat } from '../chat/chat-harness.ts';

/**
 * The client scenarios of the protocol's conformance package. Not among them: `auth/basic-cimd` needs an installation
 * with https, the extensions `auth/client-credentials-*` and `auth/cross-app-access-complete-flow` sign in without a
 * person, in `elicitation-sep1034-client-defaults` the form of a person has the defaults, and `sse-retry` measures
 * milliseconds, which a busy machine does not keep.
 */
const scenarios = [
  'initialize',
  'tools_call',
  'auth/metadata-default',
  'auth/metadata-var1',
  'auth/metadata-var2',
  'auth/metadata-var3',
  'auth/scope-from-www-authenticate',
  'auth/scope-from-scopes-supported',
  'auth/scope-omitted-when-undefined',
  'auth/scope-step-up',
  'auth/scope-retry-limit',
  'auth/token-endpoint-auth-basic',
  'auth/token-endpoint-auth-post',
  'auth/token-endpoint-auth-none',
  'auth/pre-registration',
  'auth/2025-03-26-oauth-metadata-backcompat',
  'auth/2025-03-26-oauth-endpoint-fallback',
  'auth/resource-mismatch',
  'auth/offline-access-scope',
  'auth/offline-access-not-supported',
];

const home = 'https://chat.example.org';
const run = promisify(execFile);
const relay = join(import.meta.dirname, '../fakes/conformance-client.ts');
const program = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
);

let app: TestApp;
let user: SignedIn;
let listener: Server;
let listening = '';
before(async () => {
  app = await startTestApp({ config: { baseUrl: home } });
  user = await app.signIn();
  listener = createServer((request, response) => {
    void text(request)
      .then((body) => useServer(JSON.parse(body)))
      .then(
        () => response.end(),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  listening = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
});
after(async () => {
  listener.closeAllConnections();
  listener.close();
  await app.stop();
});

type Output = { stdout: string; stderr: string };
type Scenario = { serverUrl: string; context: { client_id?: string; client_secret?: string } };

/** Adds the server, signs in where it asks, trusts its tools, and calls the first one; once more if that was refused. */
async function useServer({ serverUrl, context }: Scenario): Promise<void> {
  const client = { clientId: context.client_id ?? null, clientSecret: context.client_secret ?? null };
  const fields = client.clientId === null ? {} : client;
  const { body } = await user.call('POST /api/mcp', { name: 'Scenario', url: serverUrl, ...fields });
  const { id } = body.server;
  if (body.server.connection === 'needed') await connect(id);
  if (!(await callFirstTool(id)) && (await connect(id))) await callFirstTool(id);
  await user.call('DELETE /api/mcp', undefined, { query: { id } });
}

/** False if the server offers no sign-in or refuses it. */
async function connect(id: string): Promise<boolean> {
  const begun = await user.call('POST /api/mcp/connect', { id });
  if (begun.status !== 200) return false;
  const agreed = await fetch(begun.body.authorizeUrl, { redirect: 'manual' });
  const back = agreed.headers.get('location') ?? '';
  if (!back.startsWith(home)) return false;
  const landed = await user.fetch(back.replace(home, ''));
  return landed.headers.get('location') === `/settings/tools?mcp=${id}`;
}

/** False if there is no tool to call, or the server refused the call. */
async function callFirstTool(id: string): Promise<boolean> {
  const { body } = await user.call('POST /api/mcp/test', { id });
  const fingerprint = body.server?.fingerprint;
  if (typeof fingerprint !== 'string') return false;
  await user.call('POST /api/mcp/trust', { id, fingerprint });
  const { findMcpTools } = await import('../../src/mcp/turn-tools.ts');
  const request = { ownerId: user.id, chatId: await createChat(user), serverIds: null };
  const [tool] = await findMcpTools(app.service.deps, request, () => undefined);
  if (tool === undefined) return false;
  return tool.call({ a: 5, b: 3 }, new AbortController().signal).then(
    (result) => !JSON.stringify(result).includes('errorText'),
    () => false,
  );
}

for (const scenario of scenarios) {
  test(`passes the scenario ${scenario} of the protocol's conformance package`, async () => {
    const command = `${process.execPath} ${relay} ${listening}`;
    const options = ['client', '--scenario', scenario, '--timeout', '120000', '--command', command];
    const ended = await run(process.execPath, [program, ...options]).catch((error: Partial<Output>) => error);
    assert.match(`${ended.stdout}${ended.stderr}`, /OVERALL: PASSED/);
  });
}
