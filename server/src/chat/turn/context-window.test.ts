import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import fc from 'fast-check';
import { estimateTokens } from '../../platform/text-tokens.ts';
import { type ChatMessage, toProviderMessages } from '../model/provider-messages.ts';
import { pruneToolCalls } from './context-cut.ts';
import { type ContextMessage, type HistoryOptions, readHistory } from './context-history.ts';
import {
  chooseCut,
  choosePruning,
  chooseTail,
  type FittedContext,
  fitChoice,
  isWithin,
  isWorthSummary,
  keepAll,
} from './context-window.ts';
import { parsePrompts } from './prompt.ts';
import { estimateMessages } from './token-estimate.ts';
import { createUsageRatio, loadTokenizer, sampleRatio } from './token-ratio.ts';

let count = 0;
function stored(
  role: 'user' | 'assistant',
  parts: MessagePart[],
  usage: ContextMessage['usage'] = null,
): ContextMessage {
  const messages = toProviderMessages([{ role, parts }]);
  const prompt = JSON.stringify(messages).slice(1, -1);
  const promptTokens = estimateMessages(messages);
  return { id: `m${++count}`, role, parts: null, usage, prompt, promptTokens, isPruned: false, start: null };
}
const says = (role: 'user' | 'assistant', text: string, usage: ContextMessage['usage'] = null): ContextMessage =>
  stored(role, [{ type: 'text', text }], usage);
const steps = (count: number, size: number, input: object = {}): ContextMessage =>
  stored(
    'assistant',
    Array.from({ length: count }, (_, index): MessagePart[] => [
      { type: 'step-start' },
      {
        type: 'dynamic-tool',
        toolName: 'look',
        toolCallId: `c${index}`,
        state: 'output-available',
        input,
        output: 'word '.repeat(size),
      },
    ]).flat(),
  );

/** Reads a history, and counts the messages read and tokenizers loaded. */
async function read(oldestFirst: ContextMessage[], extra: Partial<HistoryOptions> = {}) {
  const seen = { read: 0, loaded: 0 };
  async function* newestFirst() {
    for (const message of oldestFirst.toReversed()) {
      seen.read++;
      yield message;
    }
  }
  const history = await readHistory({
    newestFirst: newestFirst(),
    model: { contextWindow: 10_000, maxOutputTokens: 1000 },
    fixedTokens: 0,
    limitShare: 1,
    loadTokenizer: async () => {
      seen.loaded++;
      return (text) => estimateTokens(text);
    },
    ...extra,
  });
  return { history, ...seen };
}

/** Fits a history to its window without a summary. */
async function fit(oldestFirst: ContextMessage[], extra: Partial<HistoryOptions> = {}) {
  const { history, ...seen } = await read(oldestFirst, extra);
  const choice = isWithin(history, 1) ? keepAll : chooseCut(history);
  const fitted: FittedContext = fitChoice(history, choice);
  return { ...fitted, ...seen, choice, history, messages: parsePrompts([fitted.history]) };
}

const turns = (number: number, size: number): ContextMessage[] =>
  Array.from({ length: number }, (_, index) => [
    says('user', `Question ${index}`),
    says('assistant', 'word '.repeat(size)),
  ]).flat();
const contents = (messages: ChatMessage[]): unknown[] => messages.map((message) => message.content);

test('sends a conversation that fits whole, oldest first', async () => {
  const { messages, tokens, maxOutputTokens, loaded, choice } = await fit([
    says('user', 'One'),
    says('assistant', 'Two'),
    says('user', 'Three'),
  ]);
  assert.deepEqual(contents(messages), ['One', 'Two', 'Three']);
  assert.deepEqual([choice, maxOutputTokens, loaded], [keepAll, 1000, 0]);
  assert.ok(tokens > 10 && tokens < 30);
});

test('builds messages without a stored prompt from their parts', async () => {
  const message = { ...says('user', ''), prompt: null, promptTokens: null, parts: '[{"type":"text","text":"Hi"}]' };
  assert.deepEqual(contents((await fit([message])).messages), ['Hi']);
});

test('reads as much as the window needs, not the length of the conversation', async () => {
  const turn = [says('user', 'word '.repeat(100)), says('assistant', 'word '.repeat(100), { outputTokens: 100 })];
  const newest = says('user', 'And now?');
  const long = await fit([...Array.from({ length: 500 }, () => turn).flat(), newest]);
  const longer = await fit([...Array.from({ length: 2500 }, () => turn).flat(), newest]);
  assert.equal(longer.read, long.read);
  assert.ok(long.read < 120 && !long.history.isWhole);
});

test('cuts a full window to about 60 %, at the beginning of a turn', async () => {
  const { tokens, messages, choice, history } = await fit([...turns(40, 250), says('user', 'And now?')]);
  const available = 10_000 - 1000 - 300;
  assert.ok(tokens > available * 0.4 && tokens <= available * 0.6, `${tokens} of ${available}`);
  assert.equal(messages[0]?.role, 'user');
  assert.equal(messages.at(-1)?.content, 'And now?');
  assert.deepEqual(history.entries[choice.keepFrom]?.role, 'user');
});

test('begins with the first request and the summary, and ends before the start', async () => {
  const start = { upToId: 'm0', summary: { id: 's', upToId: 'm0', text: 'They want blue.' } };
  const first = { ...says('user', 'Paint it'), start };
  const { messages, header, tokens } = await fit([
    says('user', 'never read'),
    first,
    ...turns(1, 5),
    says('user', 'Go'),
  ]);
  assert.equal(messages[0]?.content, 'Paint it');
  assert.equal(messages[1]?.role, 'assistant');
  assert.match(String(messages[1]?.content), /^\[Summary.*not a request.*\]\n\nThey want blue\.$/);
  assert.deepEqual(contents(messages.slice(2)), ['Question 0', 'word '.repeat(5), 'Go']);
  assert.equal(header?.upToId, 'm0');
  assert.equal(tokens, estimateMessages(messages));
  const cut = await fit([
    { ...says('user', 'Long '.repeat(9000)), start: { upToId: 'm0', summary: null } },
    says('user', 'Go'),
  ]);
  assert.match(String(cut.messages[0]?.content), /characters omitted/);
  assert.equal(cut.messages[1]?.content, '[Earlier messages are omitted.]');
  assert.ok(cut.tokens < 1000);
});

test('rejects a message that cannot fit before any request, with advice', async () => {
  const long = [...turns(2, 5), says('user', 'word '.repeat(20_000))];
  await assert.rejects(fit(long), (error: Error & { code?: string; details?: unknown }) => {
    assert.equal(error.code, 'payload_too_large');
    assert.match(
      error.message,
      /^This message has about \d+ tokens with its files, and this model has room for \d+\. Shorten it, or/,
    );
    return true;
  });
  await assert.rejects(fit([says('user', 'Hi')], { fixedTokens: 9900 }), /instructions and tools take up the whole/);
});

test('shrinks the room for the answer for a long message', async () => {
  const model = { contextWindow: 8000, maxOutputTokens: 8000 };
  assert.equal((await fit([says('user', 'Hi')], { model })).maxOutputTokens, 4000);
  const { maxOutputTokens, tokens, messages } = await fit([...turns(3, 50), says('user', 'word '.repeat(5000))], {
    model,
  });
  assert.equal(messages.length, 1);
  assert.ok(maxOutputTokens >= 1000 && maxOutputTokens < 4000 && tokens + maxOutputTokens <= 8000);
});

test('shortens earlier tool calls first, and always to the same text', async () => {
  const old = steps(6, 200, { path: 'a.txt', content: 'x'.repeat(3000) });
  const { history } = await read([says('user', 'Go'), old, ...turns(2, 20), says('user', 'And now?')], {
    limitShare: 0.5,
  });
  const choice = choosePruning(history);
  assert.deepEqual(choice, { keepFrom: 0, pruneBefore: 2 });
  const fitted = fitChoice(history, choice ?? keepAll);
  assert.deepEqual(
    fitted.sent.map(({ isPruned }) => isPruned),
    [true, true, false, false, false, false, false],
  );
  const [call, result] = parsePrompts([fitted.history]).slice(1);
  assert.match(JSON.stringify(call), /"look".*a\.txt.*x{120}\[… 2880 characters omitted …\]/);
  assert.equal(
    result?.content,
    `[Tool result of 1000 characters, removed to save space. It began: ${'word '.repeat(20).trim()}]`,
  );
  const stored = await fit([says('user', 'Go'), { ...old, isPruned: true }, ...turns(2, 20), says('user', 'And now?')]);
  assert.equal(
    stored.history.entries[1]?.prompt,
    JSON.stringify(pruneToolCalls(parsePrompts([old.prompt ?? '']))).slice(1, -1),
  );
  const messages = pruneToolCalls(parsePrompts([old.prompt ?? '']));
  assert.deepEqual(pruneToolCalls(messages), messages);
});

test('keeps the last turns beside a summary, fewer if they are long, and shortens the last answer if it must', async () => {
  const choose = async (conversation: ContextMessage[]) =>
    chooseTail((await read([...conversation, says('user', 'And now?')], { limitShare: 0.5 })).history);
  assert.deepEqual(await choose(turns(20, 250)), { keepFrom: 36, pruneBefore: 36 });
  const longer = await choose([...turns(10, 250), ...turns(2, 2200)]);
  assert.deepEqual(longer, { keepFrom: 22, pruneBefore: 22 });
  const tools = await choose([...turns(10, 250), says('user', 'Go'), steps(10, 800)]);
  assert.deepEqual(tools, { keepFrom: 20, pruneBefore: 22 });
  assert.equal((await choose([...turns(10, 250), ...turns(1, 5000)]))?.keepFrom, 22);
  assert.equal(await choose([]), undefined);
  const { history } = await read([...turns(3, 20), says('user', 'word '.repeat(8200))], { limitShare: 0.5 });
  assert.equal(isWorthSummary(history, chooseTail(history) ?? keepAll), false);
});

test("follows the provider's counts in estimates, and runs the tokenizer near the limit only without them", async () => {
  const text = 'word '.repeat(800);
  const estimate = says('assistant', text).promptTokens ?? 0;
  const many = (usage: ContextMessage['usage']): ContextMessage[] => [
    ...Array.from({ length: 20 }, () => [says('user', text), says('assistant', text, usage)]).flat(),
    says('user', 'Go'),
  ];
  const plain = await fit(many(null));
  assert.equal(plain.loaded, 1);
  const dense = await fit(many({ outputTokens: Math.round(estimate * 1.5) }));
  assert.equal(dense.loaded, 0);
  assert.ok(dense.messages.length < plain.messages.length);
  const thinking = await fit(many({ outputTokens: estimate * 9, reasoningTokens: estimate * 8 }));
  assert.equal(thinking.messages.length, plain.messages.length);
  const silent = await fit(many({ outputTokens: estimate * 9 }));
  assert.equal(silent.loaded, 1);
  const exact = await fit(many(null), { loadTokenizer: async () => (slice) => estimateTokens(slice) * 2 });
  assert.ok(exact.messages.length < plain.messages.length);
});

test('learns token costs from answers with tool calls long before the window is full', async () => {
  const worker = steps(8, 300, { path: 'word '.repeat(40) });
  const estimated = estimateMessages(parsePrompts([worker.prompt ?? '']).filter(({ role }) => role === 'assistant'));
  const counted = { ...worker, usage: { inputTokens: 1, outputTokens: Math.round(estimated * 1.5) } };
  const { history, loaded } = await read([says('user', 'go'), counted, says('user', 'on')]);
  const sum = history.entries.reduce((tokens, entry) => tokens + entry.tokens, 0);
  assert.ok(sum > history.window.room * 0.3 && sum < history.window.room * 0.65, `${sum} of ${history.window.room}`);
  assert.ok(history.ratio > 1.4 && history.ratio < 1.6, `${history.ratio}`);
  assert.equal(loaded, 0);
});

test('always sends the newest message and a result for each call, within the window', async () => {
  const message = fc.oneof(
    fc
      .tuple(fc.constantFrom('user', 'assistant'), fc.nat({ max: 3000 }))
      .map(([role, size]) => says(role, 'wörd '.repeat(size))),
    fc.tuple(fc.integer({ min: 1, max: 8 }), fc.nat({ max: 800 })).map(([count, size]) => steps(count, size)),
    fc.constant(says('assistant', '')),
  );
  const property = fc.asyncProperty(
    fc.array(message, { maxLength: 30 }),
    fc.integer({ min: 600, max: 40_000 }),
    fc.integer({ min: 1, max: 40_000 }),
    async (older, contextWindow, maxOutputTokens) => {
      const fitted = await fit([...older, says('user', 'The newest question')], {
        model: { contextWindow, maxOutputTokens },
      });
      assert.equal(fitted.messages.at(-1)?.content, 'The newest question');
      assert.ok(
        fitted.tokens + fitted.maxOutputTokens <= contextWindow,
        `${fitted.tokens} + ${fitted.maxOutputTokens} of ${contextWindow}`,
      );
      assert.ok(Math.abs(estimateMessages(fitted.messages) - fitted.tokens) <= 20);
      assert.ok(fitted.choice.keepFrom > 0 || fitted.history.isWhole, 'what was not read is before what is left out');
      const open = new Set<string>();
      for (const item of fitted.messages) {
        if (item.role === 'tool') assert.ok(open.delete(item.tool_call_id));
        else assert.equal(open.size, 0);
        if (item.role === 'assistant') for (const call of item.tool_calls ?? []) open.add(call.id);
      }
      assert.equal(open.size, 0);
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

test('drops the oldest tool results of a growing turn in one large step, then cuts the newest', async () => {
  const { fitTurn } = await fit([says('user', 'Go')], { model: { contextWindow: 4000, maxOutputTokens: 1000 } });
  const step = (id: string, size: number): ChatMessage[] => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: id, content: 'word '.repeat(size) },
  ];
  const small = [...step('a', 100), ...step('b', 100)];
  assert.equal(fitTurn(small, undefined), small);
  const grown = [...step('a', 1200), ...step('b', 1000), ...step('c', 100), ...step('d', 700)];
  const shed = fitTurn(grown, undefined);
  assert.match(String(shed[1]?.content), /removed to save space/);
  assert.match(String(shed[3]?.content), /removed to save space/);
  assert.equal(shed[5]?.content, grown[5]?.content);
  assert.equal(shed[7]?.content, grown[7]?.content);
  const next = [...shed, ...step('e', 500)];
  assert.equal(fitTurn(next, undefined), next);
  const huge = fitTurn(step('a', 50_000), undefined);
  assert.match(String(huge[1]?.content), /characters omitted/);
  assert.ok(estimateMessages(huge) <= 2750);
});

test('estimates prose and code close to the tokenizer, from a bounded sample', async () => {
  const count = await loadTokenizer();
  const samples = [
    'It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a wife.',
    'Die Würde des Menschen ist unantastbar. Sie zu achten und zu schützen ist Verpflichtung aller staatlichen Gewalt.',
    'Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью.',
    '人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。',
    'export function sum(values: number[]): number {\n  return values.reduce((total, value) => total + value, 0);\n}\n',
  ];
  for (const sample of samples) {
    const share = estimateTokens(sample) / count(sample);
    assert.ok(share > 0.8 && share < 1.3, `${share.toFixed(2)}: ${sample}`);
  }
  let counted = 0;
  const ratio = await sampleRatio(['a'.repeat(5_000_000), 'b'], (slice) => {
    counted += slice.length;
    return estimateTokens(slice) * 2;
  });
  assert.ok(counted <= 26_000 && ratio > 1.9 && ratio < 2.1);
  const learnt = createUsageRatio();
  assert.equal(learnt.value, undefined);
});
