import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createJsonEvents } from './json-events.ts';

const responsesEvent = (delta: string, number: number): string =>
  `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":${JSON.stringify(delta)},` +
  `"sequence_number":${number}}\n\n`;
const geminiEvent = (text: string, tokens: number): string =>
  `data: {"candidates": [{"content": {"parts": [{"text": ${JSON.stringify(text)}}]},"index": 0}],` +
  `"usageMetadata": {"promptTokenCount": 7,"candidatesTokenCount": ${tokens}}}\r\n\r\n`;

test('reads the same events however the stream is cut', () => {
  const words = ['Hello', ' "quoted"', ' wörld', '', '\n', ' 🙂', ' \u2028', ' plain', ' again', ' data: [DONE]'];
  for (const event of [responsesEvent, geminiEvent]) {
    const raw = words.flatMap((word, at) => [event(word, at), event(`${word}.`, at + 100)]).join('');
    const texts = (chunks: string[]): string[] => {
      const seen: string[] = [];
      const feed = createJsonEvents(1_000_000, { event: (value) => seen.push(JSON.stringify(value)) });
      for (const chunk of chunks) feed(chunk);
      return seen;
    };
    const whole = texts([...raw]);
    assert.equal(whole.length, words.length * 2);
    for (const size of [1_000_000, 1_000, 137, 20]) {
      const chunks = raw.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      assert.deepEqual(texts(chunks), whole, String(size));
    }
    assert.deepEqual(texts(raw.split(/(?<=\n\n|\r\n\r\n)/)), whole);
  }
});

test('reads events that a server ends with a single line break', () => {
  const seen: unknown[] = [];
  const feed = createJsonEvents(1_000_000, { event: (value) => seen.push(value.n) });
  feed('data: {"n":1}\ndata: {"n":2}\n\ndata: [DONE]\n\n');
  assert.deepEqual(seen, [1, 2]);
});

test('reads many small events that arrive at once in linear time', () => {
  let count = 0;
  const feed = createJsonEvents(1_000_000, {
    event() {
      count++;
    },
  });
  const before = process.cpuUsage();
  feed('data:{}\n\n'.repeat(100_000));
  const { user, system } = process.cpuUsage(before);
  assert.equal(count, 100_000);
  assert.ok(user + system < 3_000_000, `${(user + system) / 1e6} s of CPU`);
});
