import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { after, before, test } from 'node:test';
import { ToolFailure } from '../../../src/chat/tools/tool-run.ts';
import { previewTool } from '../../../src/chat/tools/workspace/preview-tool.ts';
import { WorkspaceTurn } from '../../../src/chat/tools/workspace/workspace-turn.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { startTestApp, type TestApp } from '../../app.ts';
import { ProcessRuntime } from '../../fakes/process-runtime.ts';

let app: TestApp;
let runtime: ProcessRuntime;
const site = createServer((incoming, outgoing) => {
  if (incoming.url === '/events') {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    return;
  }
  const isThere = incoming.url === '/shop?a=1';
  outgoing.writeHead(isThere ? 200 : 500, { 'content-type': 'text/html' });
  outgoing.end(isThere ? '<title>The\n shop</title>' : 'Traceback: it broke');
});
const mute = createTcpServer((socket) => socket.end('this is not HTTP\r\n\r\n'));

before(async () => {
  runtime = new ProcessRuntime();
  app = await startTestApp({ workspaceRuntime: runtime });
  for (const server of [site, mute]) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  site.closeAllConnections();
  for (const server of [site, mute]) server.close();
  await app.stop();
  await runtime.destroy();
});

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

test("reports the app's answer and its errors to the model", async () => {
  const user = await app.signIn();
  const ended = new AbortController();
  const listeners = { onHeld: () => undefined, onFolder: () => undefined };
  const turn = new WorkspaceTurn(
    app.service.deps.workspaces,
    { userId: user.id, isRunning: false },
    ended.signal,
    listeners,
  );
  // The timeout of twenty seconds is over after a few tries.
  const tool = previewTool(turn, { ...systemClock, elapsed: () => systemClock.elapsed() * 50 });
  const context = { signal: ended.signal, toolCallId: 'call', report: () => undefined };
  const shown = (input: Record<string, unknown>) => tool.execute(input, context);
  const port = portOf(site);
  assert.deepEqual(await shown({ port, path: '/shop?a=1' }), {
    port,
    path: '/shop?a=1',
    status: 200,
    title: 'The shop',
    contentType: 'text/html',
  });
  assert.deepEqual(await shown({ port }), {
    port,
    path: '/',
    status: 500,
    contentType: 'text/html',
    text: 'Traceback: it broke',
  });
  assert.deepEqual(await shown({ port, path: '/events' }), {
    port,
    path: '/events',
    status: 200,
    contentType: 'text/event-stream',
  });
  const failure = (message: RegExp) => (error: Error) => error instanceof ToolFailure && message.test(error.message);
  await assert.rejects(shown({ port: portOf(mute) }), failure(/does not speak HTTP/));
  await assert.rejects(shown({ port: 1 }), failure(/^Nothing listens on port 1, .*Open ports: .*\d+ \(.*node/));
  await assert.rejects(shown({ port, path: '//elsewhere.example/' }), failure(/^The arguments are invalid\. path/));
  ended.abort();
});
