import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagePart } from '@homeport/contracts/frames';
import fc from 'fast-check';
import { type ChatMessage, toProviderMessages } from '../model/provider-messages.ts';
import { keepNewestSteps } from './context-cut.ts';
import { type ContextMessage, type ContextOptions, fitContext } from './context-window.ts';
import { parsePrompts } from './prompt.ts';
import { estimateMessages, estimateTokens } from './token-estimate.ts';
import { createUsageRatio, loadTokenizer, sampleRatio } from './token-ratio.ts';

let made = 0;
function stored(
  role: 'user' | 'assistant',
  parts: MessagePart[],
  usage: ContextMessage['usage'] = null,
): ContextMessage {
  const messages = toProviderMessages([{ role, parts }]).map((message) => {
    const { reasoning_content: _reasoning, ...rest } = { reasoning_content: undefined, ...message };
    return rest;
  });
  return {
    id: `m-${++made}`,
    role,
    parts: null,
    usage,
    prompt: JSON.stringify(messages).slice(1, -1),
    promptTokens: estimateMessages(messages),
  };
}
const says = (role: 'user' | 'assistant', text: string, usage: ContextMessage['usage'] = null): ContextMessage =>
  stored(role, [{ type: 'text', text }], usage);
const steps = (count: number, size: number): ContextMessage =>
  stored(
    'assistant',
    Array.from({ length: count }, (_, index): MessagePart[] => [
      { type: 'step-start' },
      {
        type: 'dynamic-tool',
        toolName: 'look',
        toolCallId: `c${index}`,
        state: 'output-available',
        input: {},
        output: 'word '.repeat(size),
      },
    ]).flat(),
  );

async function fit(oldestFirst: ContextMessage[], extra: Partial<ContextOptions> = {}) {
  let read = 0;
  let loaded = 0;
  async function* newestFirst() {
    for (const message of oldestFirst.toReversed()) {
      read++;
      yield message;
    }
  }
  const fitted = await fitContext({
    newestFirst: newestFirst(),
    model: { contextWindow: 10_000, maxOutputTokens: 1000 },
    fixedTokens: 0,
    loadTokenizer: async () => {
      loaded++;
      return (text) => estimateTokens(text);
    },
    ...extra,
  });
  return { ...fitted, messages: parsePrompts([fitted.history]), read, loaded };
}

const contents = (messages: ChatMessage[]): unknown[] => messages.map((message) => message.content);

test('a conversation that fits goes whole, oldest first', async () => {
  const { messages, isCut, tokens, maxOutputTokens, loaded } = await fit([
    says('user', 'One'),
    says('assistant', 'Two'),
    says('user', 'Three'),
  ]);
  assert.deepEqual(contents(messages), ['One', 'Two', 'Three']);
  assert.deepEqual([isCut, maxOutputTokens, loaded], [false, 1000, 0]);
  assert.ok(tokens > 10 && tokens < 30);
});

test('messages without a stored prompt are made from their parts', async () => {
  const message: ContextMessage = {
    id: 'm',
    role: 'user',
    prompt: null,
    promptTokens: null,
    usage: null,
    parts: '[{"type":"text","text":"Hi"}]',
  };
  assert.deepEqual(contents((await fit([message])).messages), ['Hi']);
});

test('what is read depends on the window, not on the length of the conversation', async () => {
  const turn = [says('user', 'word '.repeat(100)), says('assistant', 'word '.repeat(100), { outputTokens: 100 })];
  const long = await fit(Array.from({ length: 500 }, () => turn).flat());
  const longer = await fit(Array.from({ length: 2500 }, () => turn).flat());
  assert.equal(longer.read, long.read);
  assert.equal(longer.history, long.history);
  assert.ok(long.read < 120 && long.isCut && long.tokens <= 9000);
});

test('the newest user message is cut in its middle when it alone is too long', async () => {
  const text = `BEGIN ${'word '.repeat(20_000)} END`;
  const { messages, isCut } = await fit([says('user', 'Old'), says('assistant', 'Older'), says('user', text)]);
  assert.equal(messages.length, 1);
  const [content] = contents(messages);
  assert.ok(typeof content === 'string' && content.startsWith('BEGIN') && content.endsWith('END'));
  assert.match(content, /\[… \d+ characters left out …\]/);
  assert.ok(isCut && estimateMessages(messages) <= 8700 && estimateMessages(messages) > 6000);
});

test('an unfinished answer newer than the user message takes what that one leaves', async () => {
  const { messages } = await fit([says('user', 'Old '.repeat(20_000)), says('user', 'Go'), steps(3, 2)]);
  assert.equal(messages[0]?.content, 'Go');
  assert.equal(messages.length, 7);
  const cut = await fit([says('user', 'Go'), steps(30, 500)]);
  assert.equal(cut.messages[0]?.content, 'Go');
  assert.ok(cut.isCut && cut.messages.length > 3 && cut.messages.length % 2 === 1);
});

test('the oldest answer begins at the step that fits, behind a note', async () => {
  const { messages } = await fit([says('user', 'Go'), steps(30, 500), says('user', 'And now?')]);
  assert.equal(messages[0]?.content, '[Earlier messages are left out.]');
  assert.equal(messages[1]?.role, 'assistant');
  assert.equal(messages.at(-1)?.content, 'And now?');
});

test('steps are kept whole or not at all', () => {
  const messages = parsePrompts([steps(3, 50).prompt ?? '']);
  for (let room = 0; room < estimateMessages(messages); room += 5) {
    const kept = keepNewestSteps(messages, room);
    assert.ok(kept.length === 0 || (kept[0]?.role === 'assistant' && estimateMessages(kept) <= room));
  }
  assert.equal(keepNewestSteps(messages, estimateMessages(messages)).length, 4);
});

test('output is never given more than half of the window', async () => {
  const { maxOutputTokens, messages } = await fit([says('user', 'word '.repeat(3000))], {
    model: { contextWindow: 8000, maxOutputTokens: 8000 },
  });
  assert.equal(maxOutputTokens, 4000);
  assert.ok(estimateMessages(messages) > 2800);
});

test('estimates follow what the provider counted; the tokenizer is asked near the limit only without that', async () => {
  const text = 'word '.repeat(800);
  const estimate = says('assistant', text).promptTokens ?? 0;
  const turn = (usage: ContextMessage['usage']): ContextMessage[] => [
    says('user', text),
    says('assistant', text, usage),
  ];
  const many = (usage: ContextMessage['usage']): ContextMessage[] =>
    Array.from({ length: 20 }, () => turn(usage)).flat();
  const plain = await fit(many(null));
  assert.equal(plain.loaded, 1);
  const dense = await fit(many({ outputTokens: Math.round(estimate * 1.5) }));
  assert.equal(dense.loaded, 0);
  assert.ok(dense.messages.length < plain.messages.length * 0.75);
  const thinking = await fit(many({ outputTokens: estimate * 9, reasoningTokens: estimate * 8 }));
  assert.equal(thinking.messages.length, plain.messages.length);
  const silent = await fit(many({ outputTokens: estimate * 9 }));
  assert.equal(silent.loaded, 1);
  const exact = await fit(many(null), { loadTokenizer: async () => (slice) => estimateTokens(slice) * 2 });
  assert.ok(exact.messages.length < plain.messages.length * 0.6);
});

test('whatever the conversation, the newest user message is there, calls have results, and all fits', async () => {
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
        `${fitted.tokens} + ${fitted.maxOutputTokens}`,
      );
      assert.ok(Math.abs(estimateMessages(fitted.messages) - fitted.tokens) <= 20);
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

test('a turn that grows sheds its oldest tool results first, then cuts the newest', async () => {
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
  assert.equal(fitTurn(small), small);
  const grown = [...step('a', 1500), ...step('b', 100), ...step('c', 1500)];
  const shed = fitTurn(grown);
  assert.match(String(shed[1]?.content), /removed to make room/);
  assert.equal(shed[3]?.content, grown[3]?.content);
  assert.equal(shed[5]?.content, grown[5]?.content);
  const huge = fitTurn(step('a', 50_000));
  assert.match(String(huge[1]?.content), /characters left out/);
  assert.ok(estimateMessages(huge) <= 2750);
});

test('the estimate is near the tokenizer for prose and code, the sample is bounded', async () => {
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
