import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { protocols } from '../protocols/protocols.ts';
import { readCompletion } from './event-reader.ts';
import { completionBounds } from './provider-stream.ts';

/** Reads an answer from the events of a stream. */
async function read(kind: ProviderKind, events: readonly object[]) {
  const heard = { text: '', reasoning: '', calls: 0 };
  const sink = {
    text(delta: string) {
      heard.text += delta;
    },
    reasoning(delta: string) {
      heard.reasoning += delta;
    },
    toolStart() {
      heard.calls++;
    },
    toolDelta: () => undefined,
  };
  const wire = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const parser = protocols[kind]().createParser(sink, () => 'made', completionBounds);
  const body = ReadableStream.from([Buffer.from(wire)]);
  const result = await readCompletion(body, parser, new AbortController().signal);
  return { ...heard, result };
}

const delta = (value: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: value, finish_reason: finish }],
});
const detail = (text: string) => ({ type: 'reasoning.text', text, format: 'f', index: 0 });

test('reads reasoning that a server sends only in its details', async () => {
  const details = await read('openai', [
    delta({ content: '', reasoning_details: [detail('One ')] }),
    delta({ content: null, reasoning: '', reasoning_details: [detail('two.')] }),
    delta({ reasoning_details: [{ type: 'reasoning.summary', summary: ' Three.' }, { type: 'reasoning.encrypted' }] }),
    delta({ content: 'Four.' }, 'stop'),
  ]);
  assert.deepEqual([details.reasoning, details.text], ['One two. Three.', 'Four.']);
  const blocks = await read('openai', [
    delta({ thinking_blocks: [{ type: 'thinking', thinking: 'One.', signature: 'S' }, null] }),
    delta({ content: 'Four.' }, 'stop'),
  ]);
  assert.deepEqual([blocks.reasoning, blocks.text], ['One.', 'Four.']);
});

test('reads reasoning once that comes as text and in its details', async () => {
  const { reasoning } = await read('openai', [
    delta({ reasoning: 'One ', reasoning_details: [detail('One ')] }),
    delta({ reasoning_content: 'two.', reasoning_details: [detail('two.')] }),
    delta({ reasoning_details: [detail('One two.')] }),
    delta({ content: 'Four.' }, 'stop'),
  ]);
  assert.equal(reasoning, 'One two.');
});

const begun = (id: string) => ({ type: 'message_start', message: { id, usage: { input_tokens: 1 } } });
const said = (text: string) => ({ type: 'content_block_start', index: 0, content_block: { type: 'text', text } });
const ended = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }];

test('ends an answer as broken when another one begins in its middle', async () => {
  await assert.rejects(read('anthropic', [begun('a'), said('Half'), begun('b'), said('Whole'), ...ended]), {
    code: 'provider_unreachable',
  });
});

test('accepts the beginning of an answer that is announced twice', async () => {
  assert.equal((await read('anthropic', [begun('a'), begun('b'), said('Hi'), ...ended])).text, 'Hi');
  assert.equal((await read('anthropic', [begun('a'), said('Hi'), begun('a'), ...ended])).text, 'Hi');
});
