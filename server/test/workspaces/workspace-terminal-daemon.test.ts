import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { ProcessRuntime } from '../fakes/process-runtime.ts';

let app: TestApp;
let runtime: ProcessRuntime;
before(async () => {
  runtime = new ProcessRuntime();
  app = await startTestApp({ workspaceRuntime: runtime });
});
after(async () => {
  await app.stop();
  await runtime.destroy();
});

type Terminal = { socket: WebSocket; messages: { type: string }[]; output(): string; closed: Promise<unknown> };

/** A terminal as a browser has it, with all received messages. */
async function open(user: SignedIn, id: string): Promise<Terminal> {
  const address = `${app.url.replace('http', 'ws')}/api/workspace/terminal?id=${id}&columns=100&rows=30`;
  const headers = { cookie: user.cookie ?? '', origin: app.url };
  // Node's own accepts headers, which the standard does not define.
  const socket = new WebSocket(address, { headers } as unknown as string[]);
  socket.binaryType = 'arraybuffer';
  const messages: { type: string }[] = [];
  let output = '';
  socket.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') messages.push(JSON.parse(data));
    else output += new TextDecoder().decode(data);
  });
  const closed = new Promise((resolve) => socket.addEventListener('close', resolve));
  const terminal = { socket, messages, output: () => output, closed };
  await until(() => messages.length > 0 || socket.readyState === WebSocket.CLOSED);
  return terminal;
}

const type = ({ socket }: Terminal, text: string) => socket.send(new TextEncoder().encode(text));

test('a shell answers, is joined again with its output, and ends when it is closed', async () => {
  const user = await app.signIn();
  const first = await open(user, 'tab');
  assert.deepEqual(first.messages[0], { type: 'attached', id: 'tab', isNew: true });
  type(first, 'kept=41; echo "is $((kept + 1))"; stty size\n');
  await until(() => first.output().includes('is 42') && first.output().includes('30 100'));
  first.socket.close();
  await first.closed;

  const again = await open(user, 'tab');
  assert.deepEqual(again.messages[0], { type: 'attached', id: 'tab', isNew: false });
  await until(() => again.output().includes('is 42'));
  type(again, 'echo "still $kept"\n');
  await until(() => again.output().includes('still 41'));
  again.socket.send(JSON.stringify({ type: 'resize', columns: 55, rows: 11 }));
  type(again, 'stty size\n');
  await until(() => again.output().includes('11 55'));

  again.socket.send(JSON.stringify({ type: 'close' }));
  await again.closed;
  assert.equal(again.messages.at(-1)?.type, 'exit');
  const anew = await open(user, 'tab');
  assert.deepEqual(anew.messages[0], { type: 'attached', id: 'tab', isNew: true });
  anew.socket.close();
});

test('a stopped workspace ends its terminals and is not started by them', async () => {
  const user = await app.signIn();
  const terminal = await open(user, 'one');
  assert.equal((await user.call('DELETE /api/workspace/status')).status, 200);
  await terminal.closed;
  const { body } = await user.call('GET /api/workspace/status');
  assert.equal(body.phase, 'stopped');
});
