import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import fc from 'fast-check';
import { ManualClock } from '../../../test/fakes/manual-clock.ts';
import type { StoredMessage } from '../model/provider-messages.ts';
import { generateTitle, instantTitle } from './title.ts';

const text = (value: string): MessagePart => ({ type: 'text', text: value });

test('makes a title from the first words, without markdown, cut at a word', () => {
  const cases: [string, string][] = [
    ['How do I bake bread?', 'How do I bake bread?'],
    ['# Plan\n\n- **one** `two`\n- [three](https://x.y)', 'Plan one two three'],
    ['> quoted\n```ts\nlet x = 1\n```', 'quoted let x = 1'],
    [
      'Please explain the difference between processes and threads in detail',
      'Please explain the difference between processes and threads…',
    ],
    ['snake_case and 2 * 3', 'snake_case and 2 3'],
    ['a\u202eb\u0007c', 'a b c'],
    ['   ', 'New conversation'],
    ['日'.repeat(100), `${'日'.repeat(59)}…`],
    [`${'x'.repeat(58)}😀😀`, `${'x'.repeat(58)}…`],
  ];
  for (const [given, expected] of cases) assert.equal(instantTitle([text(given)]), expected);
  assert.equal(instantTitle([]), 'New conversation');
  assert.equal(
    instantTitle([{ type: 'file', mediaType: 'image/png', url: 'data:,' }, text('What is this?')]),
    'What is this?',
  );
});

test('makes a title of one line within bounds from any text', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 300 }).map(text)), (parts) => {
      const title = instantTitle(parts);
      assert.ok(title.length > 0 && title.length <= 60);
      assert.ok(title.isWellFormed() && !/[\p{Cc}]/u.test(title) && title === title.trim());
    }),
    { numRuns: 200 },
  );
});

const messages: StoredMessage[] = [
  { role: 'user', parts: [text(`Tell me about bread${'!'.repeat(10_000)}`)] },
  { role: 'assistant', parts: [{ type: 'reasoning', text: 'secret' }, text('Bread is baked.')] },
];
const never = new AbortController().signal;

test('cleans the answers of models', async () => {
  const cases: [string, string | undefined][] = [
    ['Baking bread', 'Baking bread'],
    ['"Baking bread."\n', 'Baking bread'],
    ['<think>\nHm, "bread".\n</think>\n\n**Title: Baking bread**\nI chose this because', 'Baking bread'],
    ['Here is a title for this conversation:\n\n**Baking bread**', 'Baking bread'],
    ['Title:\nBaking bread', 'Baking bread'],
    ['Hier ist ein Titel:\n„Brot backen“', 'Brot backen'],
    ['Here is a title:', 'Here is a title'],
    ['A plan for baking bread:\n1. Knead', 'A plan for baking bread'],
    ['<think>never ending', undefined],
    ['\n \n', undefined],
    ['„Brot backen“', 'Brot backen'],
    ['标题：烤面包', '烤面包'],
    ['タイトル: パンを焼く', 'パンを焼く'],
    ['《烤面包》', '烤面包'],
    ['Titel: Brot backen', 'Brot backen'],
    ['Título: Hornear pan', 'Hornear pan'],
    ['Titles of nobility', 'Titles of nobility'],
    ['word '.repeat(40), `${'word '.repeat(16).trim()}…`],
  ];
  for (const [answer, expected] of cases) {
    assert.equal(await generateTitle({ ask: async () => answer, messages }, never), expected);
  }
});

test('sends the model a bounded excerpt and a bounded task', async () => {
  let shown = '';
  let most = 0;
  await generateTitle(
    {
      ask: async (request) => {
        shown = JSON.stringify(request.messages);
        most = request.maxOutputTokens;
        return 'x';
      },
      messages,
    },
    never,
  );
  assert.ok(shown.length < 6000 && shown.includes('Bread is baked.') && !shown.includes('secret'));
  assert.equal(most, 200);
});

test('gives no title after a failure, a timeout or an abort', async () => {
  const ask = async (): Promise<string> => {
    throw new Error('down');
  };
  assert.equal(await generateTitle({ ask, messages }, never), undefined);
  let aborted = false;
  const hang = (_request: unknown, signal: AbortSignal): Promise<string> => {
    signal.addEventListener('abort', () => {
      aborted = true;
    });
    return new Promise(() => undefined);
  };
  const clock = new ManualClock();
  const late = generateTitle({ ask: hang, messages, clock }, never);
  clock.advance(60_000);
  assert.equal(await late, undefined);
  assert.ok(aborted);
  const controller = new AbortController();
  const waiting = generateTitle({ ask: hang, messages }, controller.signal);
  controller.abort();
  assert.equal(await waiting, undefined);
  assert.equal(await generateTitle({ ask: async () => 'x', messages }, AbortSignal.abort()), undefined);
});
