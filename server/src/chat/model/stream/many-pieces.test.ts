import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { protocols } from '../protocols/protocols.ts';
import { completionBounds } from './provider-stream.ts';

/** Answers in very many pieces: the cost of a piece does not grow with the text before it, in any protocol. */

type Wire = (pieces: number) => string;

const stream = (events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const repeat = (pieces: number, make: (at: number) => object): object[] =>
  Array.from({ length: pieces }, (_, at) => make(at));

function anthropic(start: object, delta: (at: number) => object): Wire {
  return (pieces) =>
    stream([
      { type: 'content_block_start', index: 0, content_block: start },
      ...repeat(pieces, (at) => ({ type: 'content_block_delta', index: 0, delta: delta(at) })),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ]);
}

function responses(delta: (at: number) => object): Wire {
  return (pieces) => stream([...repeat(pieces, delta), { type: 'response.completed', response: { output: [] } }]);
}

function gemini(part: (at: number) => object): Wire {
  return (pieces) =>
    stream([
      ...repeat(pieces, (at) => ({ candidates: [{ content: { parts: [part(at)] } }] })),
      { candidates: [{ finishReason: 'STOP' }] },
    ]);
}

function openai(call: (text: string) => object): Wire {
  const chunk = (delta: object, finish_reason: string | null): object => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  return (pieces) =>
    stream([...repeat(pieces, (at) => chunk({ tool_calls: [call(json(at))] }, null)), chunk({}, 'tool_calls')]);
}

const toolUse = { type: 'tool_use', id: 'a', name: 'one' };
const json = (at: number): string => (at === 0 ? '{"x":"' : 'some');
const wires: Record<string, [ProviderKind, Wire]> = {
  'OpenAI: a tool whose name is repeated': [
    'openai',
    openai((text) => ({ index: 0, function: { name: 'one', arguments: text } })),
  ],
  'OpenAI: a tool whose name and id are repeated': [
    'openai',
    openai((text) => ({ index: 0, id: 'a', function: { name: 'one', arguments: text } })),
  ],
  'OpenAI: a tool whose name is repeated, without an index': [
    'openai',
    openai((text) => ({ function: { name: 'one', arguments: text } })),
  ],
  'OpenAI: a tool with a closing bracket in every piece': [
    'openai',
    openai((text) => ({ index: 0, id: 'a', function: { name: 'one', arguments: `${text}}` } })),
  ],
  'Anthropic: input of a tool': [
    'anthropic',
    anthropic(toolUse, (at) => ({ type: 'input_json_delta', partial_json: json(at) })),
  ],
  'Anthropic: text': ['anthropic', anthropic({ type: 'text' }, () => ({ type: 'text_delta', text: 'some ' }))],
  'Anthropic: thinking': [
    'anthropic',
    anthropic({ type: 'thinking' }, () => ({ type: 'thinking_delta', thinking: 'some ' })),
  ],
  'Anthropic: signatures': [
    'anthropic',
    anthropic({ type: 'thinking' }, () => ({ type: 'signature_delta', signature: 'some' })),
  ],
  'Responses: input of a tool': [
    'openai-responses',
    responses((at) => ({ type: 'response.function_call_arguments.delta', output_index: 0, delta: json(at) })),
  ],
  'Responses: a tool begun again and again': [
    'openai-responses',
    responses(() => ({
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'function_call', call_id: 'a', name: 'one', arguments: '{}' },
    })),
  ],
  'Responses: text': [
    'openai-responses',
    responses(() => ({ type: 'response.output_text.delta', output_index: 0, delta: 'some ' })),
  ],
  'Responses: reasoning in ever new parts': [
    'openai-responses',
    responses((at) => ({ type: 'response.reasoning_text.delta', output_index: 0, content_index: at, delta: 'some ' })),
  ],
  'Gemini: text': ['gemini', gemini(() => ({ text: 'some ' }))],
  'Gemini: thoughts': ['gemini', gemini(() => ({ text: 'some ', thought: true }))],
};

const nothing = (): void => undefined;
const sink = { text: nothing, reasoning: nothing, toolStart: nothing, toolDelta: nothing };

function microseconds(kind: ProviderKind, wire: string): number {
  const before = process.cpuUsage();
  const parser = protocols[kind]().createParser(sink, () => 'made', completionBounds);
  parser.feed(wire);
  const result = parser.end();
  const { user, system } = process.cpuUsage(before);
  assert.notEqual(result, undefined);
  if (kind === 'openai') assert.equal(result?.toolCalls.length, 1);
  return user + system;
}

for (const [what, [kind, wire]] of Object.entries(wires)) {
  test(`thirty thousand pieces cost what their number does: ${what}`, { timeout: 120_000 }, () => {
    const [few, many] = [wire(3_750), wire(30_000)];
    // Eight times as many. The best of some: the first runs pay for compiling, and the machine has other work. A cost that grows with what
    // came before would be 64 times as high.
    let [cheapest, dearest] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let tries = 0; tries < 3 || (dearest > 24 * cheapest && tries < 20); tries += 1) {
      cheapest = Math.min(cheapest, microseconds(kind, few));
      dearest = Math.min(dearest, microseconds(kind, many));
    }
    assert.ok(dearest <= 24 * cheapest, `${dearest} and ${cheapest} µs`);
  });
}
