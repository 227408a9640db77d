import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import type { WorkspaceRuntime } from '../../../src/workspaces/runtime.ts';
import { startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { chunk } from '../../fakes/provider/provider-scripts.ts';
import { addModels, answer, createChat, idle, postChat, readStream, submit } from '../chat-harness.ts';

let provider: FakeProvider;
let app: TestApp;
let starts = 0;

/** Accepts every start and never finishes it. */
const hanging: WorkspaceRuntime = {
  kind: 'local',
  start(_workspace, signal) {
    starts += 1;
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  },
  stop: async () => undefined,
  status: async () => ({ phase: 'starting', generation: undefined, detail: undefined }),
  dial: () => Promise.reject(new Error('It does not run')),
  list: async () => [],
  close: async () => undefined,
};

before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ workspaceRuntime: hanging });
});
after(async () => {
  await app.stop();
  await provider.close();
});

test('the model is called while the workspace starts, and a response without tools never waits for it', async () => {
  const user = await app.signIn();
  await addModels(user, provider, ['echo']);
  const chatId = await createChat(user);
  const streamed = await answer(user, chatId, await submit(user, chatId, 'hello there'));
  assert.match(streamed.text, /hello there/);
  assert.ok(streamed.done);
  await until(async () => starts > 0);
});

test('a tool waits for the start, and Stop ends the wait', async () => {
  const user = await app.signIn();
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"true"}' } };
  provider.script('waits', () => ({ steps: [chunk({ tool_calls: [call] }), chunk({}, 'tool_calls')] }));
  await addModels(user, provider, ['waits']);
  const chatId = await createChat(user);
  const messageId = await submit(user, chatId, 'go');
  await readStream(await postChat(user, { chatId, messageId }), ({ frame }) => frame.type === 'tool-input-available');
  await user.call(`POST /api/chat/${chatId}/stop`, {});
  await idle(app);
});
