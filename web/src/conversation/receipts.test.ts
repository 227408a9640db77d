import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiFailure } from '../api/api-failure.ts';
import { type Receipt, type ReceiptDeps, ReceiptStore } from './receipts.ts';

type Sent = { route: string; body: string };
type Answer = unknown | Error;

class MemoryStorage {
  readonly items = new Map<string, string>();
  isFull = false;
  get length() {
    return this.items.size;
  }
  key(index: number) {
    return [...this.items.keys()][index] ?? null;
  }
  getItem(key: string) {
    return this.items.get(key) ?? null;
  }
  setItem(key: string, value: string) {
    if (this.isFull) throw new Error('QuotaExceededError');
    this.items.set(key, value);
  }
  removeItem(key: string) {
    this.items.delete(key);
  }
}

function house(answers: Answer[]) {
  const storage = new MemoryStorage();
  const sent: Sent[] = [];
  const stored: (string | null)[] = [];
  const cleared: string[] = [];
  const dropped: string[] = [];
  const deps: ReceiptDeps = {
    storage,
    locks: undefined,
    clearDraft: ({ draftName }) => cleared.push(`${draftName}:${storage.items.size}`),
    dropChat: async (chatId) => dropped.push(chatId),
    send: async (route, body) => {
      sent.push({ route, body });
      stored.push([...storage.items.values()][0] ?? null);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { storage, sent, stored, cleared, dropped, deps, book: new ReceiptStore('user-1', deps) };
}

const receipt = (change: Partial<Receipt> = {}): Receipt => ({
  version: 1,
  chatId: 'chat-1',
  messageId: 'message-1',
  route: 'POST /api/chat/start',
  body: '{"chatId":"chat-1","message":{"id":"message-1","parts":[{"type":"text","text":"ä  "}]}}',
  createBody: null,
  text: 'ä  ',
  draftName: 'chat-1',
  savedAt: '2026-01-01T00:00:00.000Z',
  ...change,
});
const lost = () => new ApiFailure('network', '');
const refusal = (code: 'not_found' | 'input_conflict' | 'id_taken' | 'unauthorized', status: number) =>
  new ApiFailure(code, 'No', { status });

test('the receipt is in storage before the request leaves, and gone after the acknowledgement', async () => {
  const { book, storage, stored, cleared } = house([{ messageId: 'message-1' }]);
  const outcome = await book.submit(receipt());
  assert.equal(outcome.kind, 'acknowledged');
  assert.deepEqual(stored, [JSON.stringify(receipt())]);
  assert.equal(storage.items.size, 0);
  assert.deepEqual(cleared, ['chat-1:1'], 'the draft is cleared while the receipt still stands');
});

test('a lost acknowledgement keeps the receipt; the retry after a reload sends the same bytes to the same endpoint', async () => {
  const { book, sent, deps, storage } = house([lost(), { input: { id: 'message-1' } }]);
  const queued = receipt({ route: 'POST /api/chat/turn-inputs' });
  assert.equal((await book.submit(queued)).kind, 'uncertain');
  const reloaded = new ReceiptStore('user-1', deps);
  assert.deepEqual(reloaded.state('chat-1')?.receipt, queued);
  assert.equal(sent.length, 1, 'nothing is sent without being asked for');
  assert.equal((await reloaded.retry('chat-1')).kind, 'acknowledged');
  assert.deepEqual(sent[1], sent[0]);
  assert.equal(storage.items.size, 0);
});

test("doesn't accept an unreadable or foreign response as acknowledgement", async () => {
  for (const answer of [undefined, 'ok', { messageId: 'message-2' }, { input: null }]) {
    const { book, storage } = house([answer]);
    assert.equal((await book.submit(receipt())).kind, 'uncertain');
    assert.equal(storage.items.size, 1);
  }
});

test('frees the draft after a refused first attempt, and keeps the receipt after a refused retry', async () => {
  const first = house([refusal('not_found', 404)]);
  assert.equal((await first.book.submit(receipt())).kind, 'refused');
  assert.equal(first.storage.items.size, 0);
  assert.deepEqual(first.cleared, []);
  const second = house([lost(), refusal('unauthorized', 401)]);
  await second.book.submit(receipt());
  assert.equal((await second.book.retry('chat-1')).kind, 'uncertain');
  assert.equal(second.storage.items.size, 1);
});

test('treats a server error as an unknown outcome', async () => {
  const { book, storage } = house([new ApiFailure('internal_error', 'No', { status: 500 })]);
  assert.equal((await book.submit(receipt())).kind, 'uncertain');
  assert.equal(storage.items.size, 1);
});

test('a conflict keeps the receipt until the person discards it', async () => {
  const { book, storage } = house([refusal('input_conflict', 409)]);
  assert.equal((await book.submit(receipt())).kind, 'conflict');
  assert.equal(book.state('chat-1')?.conflict, true);
  book.discard('chat-1');
  assert.equal(storage.items.size, 0);
});

test("sends nothing if the receipt can't be stored", async () => {
  const { book, storage, sent } = house([]);
  storage.isFull = true;
  assert.equal((await book.submit(receipt())).kind, 'not-stored');
  assert.deepEqual(sent, []);
});

test('a second submission waits for the first, in this tab and in another', async () => {
  let answer: (value: unknown) => void = () => {};
  const { deps, book } = house([]);
  deps.send = () => new Promise((resolve) => (answer = resolve));
  const first = book.submit(receipt());
  assert.equal((await book.submit(receipt({ messageId: 'message-2' }))).kind, 'busy');
  assert.equal((await book.retry('chat-1')).kind, 'busy');
  assert.equal((await new ReceiptStore('user-1', deps).submit(receipt({ messageId: 'message-3' }))).kind, 'busy');
  answer({ messageId: 'message-1' });
  assert.equal((await first).kind, 'acknowledged');
});

test('a held lock keeps a second tab from sending the same receipt', async () => {
  const held = new Set<string>();
  const locks = {
    request: async (name: string, _: unknown, run: (lock: object | null) => Promise<unknown>) => {
      if (held.has(name)) return run(null);
      held.add(name);
      try {
        return await run({ name });
      } finally {
        held.delete(name);
      }
    },
  };
  let answer: (value: unknown) => void = () => {};
  const { deps, book } = house([lost()]);
  Object.assign(deps, { locks });
  await book.submit(receipt());
  let requests = 0;
  deps.send = () => {
    requests += 1;
    return new Promise((resolve) => (answer = resolve));
  };
  const first = book.retry('chat-1');
  assert.equal((await new ReceiptStore('user-1', deps).retry('chat-1')).kind, 'busy');
  answer({ messageId: 'message-1' });
  assert.equal((await first).kind, 'acknowledged');
  assert.equal(requests, 1);
});

test('marks a submission as pending from the call on, before lock and storage', async () => {
  const { deps, book, storage } = house([{ messageId: 'message-1' }]);
  let grant: (lock: object | null) => void = () => {};
  const granted = new Promise<object | null>((resolve) => (grant = resolve));
  Object.assign(deps, {
    locks: {
      request: async (_name: string, _options: unknown, run: (lock: object | null) => unknown) => run(await granted),
    },
  });
  const heard: boolean[] = [];
  book.subscribe(() => heard.push(book.state('chat-1') !== undefined));
  const first = book.submit(receipt());
  assert.deepEqual(heard, [true], 'nobody can type on in the meantime');
  assert.equal(storage.items.size, 0);
  assert.equal(book.state('chat-1')?.sending, true);
  assert.equal(book.state('chat-1'), book.state('chat-1'));
  assert.equal((await book.submit(receipt({ messageId: 'message-2' }))).kind, 'busy');
  assert.equal(book.state('chat-1')?.receipt.messageId, 'message-1');
  grant({});
  assert.equal((await first).kind, 'acknowledged');
  assert.equal(book.state('chat-1'), undefined);
});

test("clears the pending state of a submission that wasn't sent", async () => {
  const { deps, book, storage } = house([]);
  storage.isFull = true;
  assert.equal((await book.submit(receipt())).kind, 'not-stored');
  assert.equal(book.state('chat-1'), undefined);
  Object.assign(deps, {
    locks: { request: async (_: string, __: unknown, run: (lock: null) => unknown) => run(null) },
  });
  assert.equal((await book.submit(receipt())).kind, 'busy');
  assert.equal(book.state('chat-1'), undefined);
});

test('hides receipts from other users', async () => {
  const { book, deps } = house([lost()]);
  await book.submit(receipt());
  const other = new ReceiptStore('user-2', deps);
  assert.equal(other.state('chat-1'), undefined);
  assert.deepEqual(other.pendingChatIds(), []);
  assert.deepEqual(book.pendingChatIds(), ['chat-1']);
});

test('creates a new conversation first and accepts one from an earlier attempt', async () => {
  const { book, sent } = house([lost(), refusal('id_taken', 409), { messageId: 'message-1' }]);
  const created = receipt({ createBody: '{"id":"chat-1"}' });
  assert.equal((await book.submit(created)).kind, 'uncertain');
  assert.equal(book.pendingNewChat(), 'chat-1');
  assert.equal((await book.retry('chat-1')).kind, 'acknowledged');
  assert.deepEqual(
    sent.map((request) => request.route),
    ['POST /api/chats', 'POST /api/chats', 'POST /api/chat/start'],
  );
  assert.equal(sent[2]?.body, created.body);
});

test('a refused first message leaves no empty conversation, unless the conversation held files before', async () => {
  for (const [creation, left] of [
    [{ id: 'chat-1' }, ['chat-1']],
    [refusal('id_taken', 409), []],
  ] as const) {
    const { book, dropped } = house([creation, refusal('not_found', 404)]);
    assert.equal((await book.submit(receipt({ createBody: '{"id":"chat-1"}' }))).kind, 'refused');
    assert.deepEqual(dropped, left);
  }
});

test('keeps the conversation of a first message whose outcome is unknown', async () => {
  const { book, dropped } = house([{ id: 'chat-1' }, lost()]);
  assert.equal((await book.submit(receipt({ createBody: '{"id":"chat-1"}' }))).kind, 'uncertain');
  assert.deepEqual(dropped, []);
});
