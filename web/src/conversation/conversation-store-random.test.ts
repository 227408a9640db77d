import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Frame } from '@homeport/contracts/chat/frames';
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import fc from 'fast-check';
import { detail, playConversation, running } from '../../test/played-conversation.ts';

test('assembles the same message as the AI SDK, regardless of connection breaks', async (t) => {
  t.mock.method(Math, 'random', () => 0);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const word = fc.string({ minLength: 1, maxLength: 6 });
  const block = fc.oneof(
    fc.record({ kind: fc.constant('text' as const), words: fc.array(word, { maxLength: 6 }) }),
    fc.record({ kind: fc.constant('reasoning' as const), words: fc.array(word, { maxLength: 6 }) }),
    fc.record({ kind: fc.constant('tool' as const), words: fc.array(word, { maxLength: 3 }) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(block, { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(20), { maxLength: 3 }),
      async (blocks, cuts) => {
        const frames = toFrames(blocks);
        const { store, connected, until } = playConversation([detail({ response: running('a1', 'u1') })]);
        let next = connected();
        store.follow();
        let sent = 0;
        for (const cut of cuts) {
          const connection = await next;
          assert.equal(connection.after, sent === 0 ? undefined : String(sent));
          const end = Math.min(frames.length - 1, sent + cut);
          connection.send(frames.slice(sent, end), sent);
          sent = end;
          next = connected();
          await new Promise(setImmediate);
          connection.break();
          await new Promise(setImmediate);
          await new Promise(setImmediate);
          t.mock.timers.tick(60_000);
        }
        (await next).send(frames.slice(sent), sent);
        await new Promise(setImmediate);
        t.mock.timers.tick(50);
        await until(() => store.getView().messages.at(-1)?.status === 'complete');
        assert.deepEqual(store.getView().messages.at(-1)?.parts, (await oracle(frames)).parts);
        store.unfollow();
      },
    ),
    { numRuns: 60 },
  );
});

function toFrames(blocks: { kind: 'text' | 'reasoning' | 'tool'; words: string[] }[]): Frame[] {
  const frames: Frame[] = [{ type: 'start', messageId: 'a1' }, { type: 'start-step' }];
  blocks.forEach(({ kind, words }, index) => {
    const id = `b${index}`;
    if (kind === 'tool') {
      frames.push({ type: 'tool-input-start', toolCallId: id, toolName: 'bash', dynamic: true });
      frames.push({ type: 'tool-input-available', toolCallId: id, toolName: 'bash', input: { words }, dynamic: true });
      frames.push({ type: 'tool-output-available', toolCallId: id, output: words, dynamic: true });
      return;
    }
    frames.push({ type: `${kind}-start`, id });
    for (const delta of words) frames.push({ type: `${kind}-delta`, id, delta });
    frames.push({ type: `${kind}-end`, id });
  });
  return [...frames, { type: 'finish-step' }, { type: 'finish', finishReason: 'stop' }];
}

async function oracle(frames: Frame[]): Promise<UIMessage> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const frame of frames) controller.enqueue(asChunk(frame));
      controller.close();
    },
  });
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream })) last = message;
  if (!last) throw new Error('the oracle assembled nothing');
  return JSON.parse(JSON.stringify(last));
}

/** Homeport's frames are a part of the AI SDK's; only the metadata's type differs. */
function asChunk(frame: Frame): UIMessageChunk {
  return frame as UIMessageChunk;
}
