import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventShape } from './event-shape.ts';
import { createJsonEvents } from './json-events.ts';

const responsesEvent = (delta: string, number: number, at = 0): string =>
  `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":${JSON.stringify(delta)},` +
  `"obfuscation":"${'x'.repeat(number % 9)}","output_index":${at},"sequence_number":${number}}\n\n`;
const geminiEvent = (text: string, tokens: number): string =>
  `data: {"candidates": [{"content": {"parts": [{"text": ${JSON.stringify(text)}}]},"index": 0}],` +
  `"usageMetadata": {"promptTokenCount": 7,"candidatesTokenCount": ${tokens}}}\r\n\r\n`;
const parse = (raw: string) => JSON.parse(/^data: (.*)$/m.exec(raw)?.[1] ?? '');

test('events that differ in a text and in counts are read without the parser, with both as they came', () => {
  for (const event of [responsesEvent, geminiEvent]) {
    const seen: string[] = [];
    const shape = createEventShape((value) => seen.push(JSON.stringify(value)));
    const [first, ...next] = [event('Hello', 1), event(' wörld', 22), event('', 3), event(' 🙂 {"', 4)];
    assert.ok(first !== undefined);
    shape.learn(parse(first), () => first);
    const text = next.join('');
    assert.equal(shape.read(text), next.slice(0, 2).join('').length, 'an escaped text is for the parser');
    const kept = seen.map((value) => ({ ...JSON.parse(value), obfuscation: undefined }));
    assert.deepEqual(
      kept,
      next.slice(0, 2).map((raw) => ({ ...parse(raw), obfuscation: undefined })),
    );
  }
});

test('another place, another member, a cut event, or a number in a text is no known shape', () => {
  const shape = createEventShape(() => assert.fail('not known'));
  const first = responsesEvent('Hello', 1);
  shape.learn(parse(first), () => first);
  const others = [
    responsesEvent('Hello', 2, 1),
    responsesEvent('Hello', 2).slice(0, -1),
    responsesEvent('Hello', 2).replace('"delta"', '"text"'),
    responsesEvent('Hello', 2).replace('"delta":"Hello"', '"delta":"Hello","delta":"again"'),
    responsesEvent('Hello', 2).replace(':2}', ':"2"}'),
  ];
  for (const other of others) assert.equal(shape.read(other), 0, other);
  // What is in doubt is not learnt: two texts, a member twice, a whole text after its pieces.
  const odd = [
    'data: {"type":"x.delta","delta":"a","text":"b"}\n\n',
    'data: {"type":"x.delta","delta":"a","delta":"b"}\n\n',
    'data: {"type":"response.output_text.done","text":"a"}\n\n',
    'data: {"type":"x.delta","sequence_number":1}\n\n',
  ];
  for (const raw of odd) {
    const doubtful = createEventShape(() => assert.fail('not known'));
    doubtful.learn(parse(raw), () => raw);
    assert.equal(doubtful.read(raw), 0, raw);
  }
});

test('however a stream is cut, its events are the same', () => {
  const words = ['Hello', ' "quoted"', ' wörld', '', '\n', ' 🙂', ' \u2028', ' plain', ' again', ' data: [DONE]'];
  for (const event of [responsesEvent, geminiEvent]) {
    const raw = words.flatMap((word, at) => [event(word, at), event(`${word}.`, at + 100)]).join('');
    const texts = (chunks: string[]): string[] => {
      const seen: string[] = [];
      const feed = createJsonEvents(1_000_000, (value) => {
        const { obfuscation: _filler, ...rest } = value;
        seen.push(JSON.stringify(rest));
      });
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

test('many small events that arrive at once cost what their size does', () => {
  let count = 0;
  const feed = createJsonEvents(1_000_000, () => {
    count++;
  });
  const before = process.cpuUsage();
  feed('data:{}\n\n'.repeat(100_000));
  const { user, system } = process.cpuUsage(before);
  assert.equal(count, 100_000);
  assert.ok(user + system < 3_000_000, `${(user + system) / 1e6} s of CPU`);
});
