import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completionBounds } from '../stream/provider-stream.ts';
import { createGeminiParser } from './gemini-events.ts';

type Piece = Record<string, unknown>;

/** The calls and kept parts of an answer with these function calls, each in an event of its own. */
function read(functionCalls: Piece[], maxTextLength = completionBounds.maxTextLength) {
  const sink = { text: ignore, reasoning: ignore, toolStart: ignore, toolDelta: ignore };
  const parser = createGeminiParser(sink, () => 'made', { ...completionBounds, maxTextLength });
  for (const [at, functionCall] of functionCalls.entries()) {
    const signed = at === 0 ? { thoughtSignature: 'SIG' } : {};
    feed(parser.feed, { content: { parts: [{ functionCall, ...signed }] } });
  }
  feed(parser.feed, { finishReason: 'STOP' });
  const end = parser.end();
  const calls = end?.toolCalls.map(({ name, arguments: json }): [string, unknown] => [name, JSON.parse(json)]);
  return { calls, state: end?.stepState };
}

function feed(to: (text: string) => void, candidate: Piece): void {
  to(`data: ${JSON.stringify({ candidates: [candidate] })}\r\n\r\n`);
}

function ignore(): void {}

const begun = (name: string): Piece => ({ name, willContinue: true });
const pieces = (...partialArgs: Piece[]): Piece => ({ partialArgs, willContinue: true });

test('assembles the arguments of a call from its pieces and keeps its signature', () => {
  const { calls, state } = read([
    begun('weather'),
    pieces({ jsonPath: '$.place', stringValue: 'San ', willContinue: true }),
    pieces({ jsonPath: '$.place', stringValue: 'Francisco', willContinue: true }),
    pieces({ jsonPath: '$.place', stringValue: '' }),
    pieces({ jsonPath: '$.days', numberValue: 0 }, { jsonPath: '$.exact', boolValue: false }),
    pieces({ jsonPath: '$.until', nullValue: 'NULL_VALUE' }),
    {},
  ]);
  const args = { place: 'San Francisco', days: 0, exact: false, until: null };
  assert.deepEqual(calls, [['weather', args]]);
  assert.deepEqual(state, [{ functionCall: { name: 'weather', args }, thoughtSignature: 'SIG' }]);
});

test('reads nested arguments, empty lists and objects, and names with other characters', () => {
  const { calls } = read([
    begun('cook'),
    pieces({ jsonPath: '$.steps[0].text', stringValue: 'Boil', willContinue: true }),
    pieces({ jsonPath: '$.steps[0].text', stringValue: '.' }),
    pieces({ jsonPath: '$.steps[1].text', stringValue: 'Eat' }),
    pieces({ jsonPath: '$.steps[]' }),
    pieces({ jsonPath: '$.tags[]' }, { jsonPath: '$.more' }, { jsonPath: "$['a key']", numberValue: 1 }),
    {},
  ]);
  const args = { steps: [{ text: 'Boil.' }, { text: 'Eat' }], tags: [], more: {}, 'a key': 1 };
  assert.deepEqual(calls, [['cook', args]]);
});

test('tells calls apart whether their end is announced or not', () => {
  const { calls } = read([
    { name: 'theme' },
    begun('screen'),
    pieces({ jsonPath: '$.id', stringValue: 'A' }),
    begun('screen'),
    { partialArgs: [{ jsonPath: '$.id', stringValue: 'B' }] },
    {},
    { name: 'screen', args: { id: 'C' } },
    begun('screen'),
    pieces({ jsonPath: '$.id', stringValue: 'cut', willContinue: true }),
  ]);
  const screens = ['A', 'B', 'C', 'cut'].map((id) => ['screen', { id }]);
  assert.deepEqual(calls, [['theme', {}], ...screens]);
});

test('ignores paths that lead out of the arguments', () => {
  const paths = ['$.__proto__.x', '$.list[7]', '$', 'place', `$${'.a'.repeat(99)}`, '$.a..b'];
  const { calls } = read([
    begun('weather'),
    pieces({ jsonPath: '$.ok', numberValue: 1 }),
    ...paths.map((jsonPath) => pieces({ jsonPath, stringValue: 'x' })),
    {},
  ]);
  assert.deepEqual(calls, [['weather', { ok: 1, list: [] }]]);
  assert.equal(Object.hasOwn(Object.prototype, 'x'), false);
});

test('ends an answer whose arguments are too long', () => {
  const piece = pieces({ jsonPath: '$.text', stringValue: 'x'.repeat(100), willContinue: true });
  assert.throws(() => read([begun('write'), ...Array.from({ length: 20 }, () => piece)], 1_000), /too long/);
});
