import assert from 'node:assert/strict';
import { get } from 'node:http';
import { before, test } from 'node:test';
import { providerKinds } from '@homeport/contracts/catalogue/provider-kinds';
import { createMessageAssembler } from '@homeport/contracts/chat/message-assembly';
import {
  parseJsonEventStream,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
  uiMessageChunkSchema,
} from 'ai';
import { seededRandom } from '../../contracts/test/seeded-random.ts';
import {
  type Caller,
  type Event,
  type Json,
  type Running,
  readEvents,
  scratchFolder,
  seedOf,
  setUp,
  startProduct,
  startProvider,
} from '../product.ts';
import {
  addEveryKind,
  allMessages,
  createChat,
  kindOf,
  type ModelOfKind,
  postChat,
  providerRequests,
  releaseWhile,
  sentText,
  settled,
  startDetached,
  submission,
  textOf,
} from './conversation.ts';

/**
 * Disconnecting does not stop a response, and a reconnecting client gets the whole text once (control-plane-api.md
 * "Saved-message acknowledgement" 6; contract.md section 6).
 */

const leavings = Number(process.env.FOLLOWER_LEAVINGS ?? 200);
/** One in each protocol. */
const responsesInAll = providerKinds.length;
const followersEach = 6;
const modelIds = [
  'pause-awkward-400@100',
  'echo',
  'reason',
  'think',
  'stream-error',
  'drop-20',
  'no-finish',
  'tool-loop',
  'whole',
  'awkward-60@0',
  'hang-5',
  'error-400',
];

let caller: Caller;
let provider: Running;
let model: (name: string, turn: number) => ModelOfKind;

before(async () => {
  provider = await startProvider();
  const product = await startProduct(scratchFolder());
  caller = await setUp(product.url);
  model = await addEveryKind(caller, provider.url, modelIds);
});

test(`gives every follower the identical text once over ${leavings} disconnects`, {
  timeout: 900_000,
}, async () => {
  const random = seededRandom(seedOf('followers'));
  const budget = { left: leavings, staying: 0 };
  const chats: string[] = [];
  for (let index = 0; index < responsesInAll; index += 1) {
    const chatId = await createChat(caller);
    await startDetached(caller, chatId, `torn-${index}`, { modelId: model('pause-awkward-400@100', index).id });
    chats.push(chatId);
  }
  const following = chats.map((chatId) =>
    Promise.all(
      Array.from({ length: followersEach }, (_, index) =>
        followLeaving(chatId, seededRandom(Math.floor(random() * 2 ** 31)), budget, index === 0),
      ),
    ),
  );
  // The answers wait before their end until all followers have returned permanently, because an ended answer has no
  // stream.
  const everybody = responsesInAll * followersEach;
  const assembled = await releaseWhile(provider, Promise.all(following), () => budget.staying === everybody);
  const requests = await providerRequests(provider);
  assert.equal(requests.length, responsesInAll, 'the model is asked once per response');
  for (const [index, texts] of assembled.entries()) {
    const chatId = chats[index] ?? '';
    await settled(caller, chatId);
    const [, answer] = await allMessages(caller, chatId);
    const sent = await sentText(
      provider,
      kindOf(index),
      requests.findIndex(({ lastText }) => lastText === `torn-${index}`),
    );
    assert.ok(sent.length > 2_000 && sent.isWellFormed());
    assert.deepEqual([answer.status, textOf(answer)], ['complete', sent]);
    for (const text of texts) assert.equal(text, sent);
  }
});

/** Follows to the end, leaving after random numbers of bytes as long as the budget lasts. */
async function followLeaving(
  chatId: string,
  random: () => number,
  budget: { left: number; staying: number },
  isSlow: boolean,
): Promise<string> {
  let text = '';
  let seen = 0;
  for (;;) {
    const leaves = budget.left > 0;
    if (leaves) budget.left -= 1;
    const bytes = leaves ? Math.floor(random() * 3_000) : Number.POSITIVE_INFINITY;
    const byHeader = random() < 0.5;
    const onOpen = () => {
      if (!leaves) budget.staying += 1;
    };
    const leg = await readLeg(chatId, seen, bytes, byHeader, isSlow, onOpen);
    for (const { id, frame } of leg.events) {
      assert.ok(id > seen, `frame ${id} came after ${seen}`);
      seen = id;
      if (frame.type === 'text-delta') text += frame.delta;
    }
    if (leg.done) return text;
    if (!leaves) throw new Error(`The stream broke off after ${seen}`);
  }
}

type Leg = { events: Event[]; done: boolean };

/**
 * Reads this many bytes of the stream and breaks the connection; only complete events count. It also disconnects when
 * the stream is silent for a moment, because at its end the answer waits for all disconnects.
 */
function readLeg(
  chatId: string,
  after: number,
  bytes: number,
  byHeader: boolean,
  isSlow: boolean,
  onOpen: () => void,
): Promise<Leg> {
  const path = `/api/chat/${chatId}/stream${byHeader ? '' : `?after=${after}`}`;
  const headers = { cookie: caller.cookie, ...(byHeader ? { 'last-event-id': String(after) } : {}) };
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const silence = Number.isFinite(bytes) ? setTimeout(() => leave(), 300) : undefined;
    const finish = (): void => {
      clearTimeout(silence);
      resolve(parseWhole(Buffer.concat(chunks)));
    };
    const leave = (): void => {
      request.destroy();
      finish();
    };
    const request = get(caller.url + path, { headers, agent: false }, (response) => {
      if (response.statusCode === 200) onOpen();
      else reject(new Error(`The stream answered ${response.statusCode}`));
      response.on('data', (data: Buffer) => {
        silence?.refresh();
        const taken = data.subarray(0, Math.max(0, bytes - length));
        chunks.push(taken);
        length += data.length;
        if (length < bytes) {
          if (!isSlow) return;
          response.pause();
          setTimeout(() => response.resume(), 30);
          return;
        }
        leave();
      });
      response.on('end', finish);
      response.on('error', finish);
    });
    request.on('error', finish);
  });
}

function parseWhole(bytes: Buffer): Leg {
  const leg: Leg = { events: [], done: false };
  const text = bytes.toString();
  for (const block of text.slice(0, text.lastIndexOf('\n\n') + 2).split('\n\n')) {
    const data = /^data: (.*)$/m.exec(block)?.[1];
    if (data === '[DONE]') leg.done = true;
    else if (data !== undefined) {
      leg.events.push({ id: Number(/^id: (\d+)$/m.exec(block)?.[1]), frame: JSON.parse(data) });
    }
  }
  return leg;
}

const answers: [modelId: string, status: string][] = [
  ['echo', 'complete'],
  ['reason', 'complete'],
  ['think', 'complete'],
  ['whole', 'complete'],
  ['awkward-60@0', 'complete'],
  ['tool-loop', 'complete'],
  ['stream-error', 'failed'],
  ['drop-20', 'failed'],
  ['no-finish', 'complete'],
  ['hang-5', 'stopped'],
];

const cases = answers.flatMap(([modelId, status]) =>
  providerKinds.map((kind, turn) => {
    // Gemini has no other mark of the end than the reason for it.
    const isCut = modelId === 'no-finish' && kind === 'gemini';
    return { modelId, kind, turn, status: isCut ? 'failed' : status };
  }),
);

for (const { modelId, kind, turn, status } of cases) {
  test(`${kind}: readUIMessageStream assembles the stored answer of ${modelId}, live and replayed`, async () => {
    const chatId = await createChat(caller);
    const messageId = `kind-${kind}-${modelId.replace(/\W/g, '_')}`;
    await caller.must('POST', '/api/chat/start', {
      ...submission(chatId, messageId),
      modelId: model(modelId, turn).id,
    });
    const live = readBoth(await postChat(caller, { chatId, messageId }));
    if (status === 'stopped') {
      // All that it says has arrived by then.
      const beside = await caller.fetch(`/api/chat/${chatId}/stream`);
      const { text } = await readEvents(beside, ({ frame }) => String(frame.delta).endsWith('word4'));
      assert.ok(text.endsWith('word4'), text);
      await caller.must('POST', `/api/chat/${chatId}/stop`, {});
    }
    const streamed = await live;
    await settled(caller, chatId);
    const [, stored] = await allMessages(caller, chatId);
    const replayed = await readBoth(await postChat(caller, { chatId, messageId }));
    assert.equal(stored.status, status, JSON.stringify(stored));
    assert.ok(stored.parts.length > 1);
    for (const { message, assembled } of [streamed, replayed]) {
      assert.equal(message.id, stored.id);
      assert.deepEqual(assembled, plain(message.parts), 'our assembler and the reader of the AI SDK agree');
      assert.deepEqual(withoutIds(plain(message.parts)), withoutIds(stored.parts));
      assert.equal(message.metadata.status, status);
    }
    assert.equal(streamed.errors.length, status === 'failed' ? 1 : 0);
  });
}

/**
 * The message that the AI SDK makes of the stream, checked frame by frame against its schema, and the one of our
 * assembler.
 */
async function readBoth(response: Response): Promise<{ message: Json; assembled: Json; errors: unknown[] }> {
  assert.equal(response.status, 200, response.status === 200 ? '' : await response.text());
  assert.equal(response.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
  assert.ok(response.body);
  const [ours, theirs] = response.body.tee();
  const own = readEvents(new Response(ours));
  const errors: unknown[] = [];
  const chunks = parseJsonEventStream({ stream: theirs, schema: uiMessageChunkSchema }).pipeThrough(
    new TransformStream<{ success: boolean; value?: UIMessageChunk; error?: unknown }, UIMessageChunk>({
      transform(parsed, controller) {
        if (parsed.value === undefined) throw new Error('Not a frame of the AI SDK', { cause: parsed.error });
        controller.enqueue(parsed.value);
      },
    }),
  );
  let message: UIMessage | undefined;
  for await (const state of readUIMessageStream({ stream: chunks, onError: (error) => void errors.push(error) })) {
    message = state;
  }
  const { events, done } = await own;
  assert.equal(done, true);
  const assembler = createMessageAssembler();
  for (const { frame } of events) assembler.apply(frame);
  return { message, assembled: plain(assembler.parts), errors };
}

function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value));
}

/** Ids of reasoning parts belong to the stream they came in. */
function withoutIds(parts: Json): Json {
  return parts.map(({ id: _id, ...part }: Json) => part);
}
