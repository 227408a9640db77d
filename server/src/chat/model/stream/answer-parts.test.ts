import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { protocols } from '../protocols/protocols.ts';
import { decodePicture } from './answer-pictures.ts';
import { readCompletion } from './event-reader.ts';
import { completionBounds } from './provider-stream.ts';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const gif = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

async function read(kind: ProviderKind, events: unknown[], isWhole = false) {
  const heard: unknown[] = [];
  const texts: string[] = [];
  const ignore = (): void => undefined;
  const sink = {
    text: (delta: string) => void texts.push(delta),
    reasoning: ignore,
    toolStart: ignore,
    toolDelta: ignore,
    source: (source: unknown) => void heard.push(source),
    picture: ({ mediaType, bytes }: { mediaType: string; bytes: Buffer }) =>
      void heard.push(`${mediaType} ${bytes.toString('base64')}`),
  };
  const wire = isWhole
    ? JSON.stringify(events[0])
    : events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');
  const parser = protocols[kind]().createParser(sink, () => 'made', completionBounds);
  const result = await readCompletion(ReadableStream.from([Buffer.from(wire)]), parser, new AbortController().signal);
  return { heard, text: texts.join(''), result };
}

const delta = (value: object, extra: object = {}, finish: string | null = null) => ({
  choices: [{ index: 0, delta: value, finish_reason: finish }],
  ...extra,
});
const done = delta({}, {}, 'stop');
const web = (url: string, title?: string, number?: number) => ({
  kind: 'url',
  url,
  ...(title === undefined ? {} : { title }),
  ...(number === undefined ? {} : { number }),
});

test('reads the citations that Perplexity sends with every chunk, numbered, with their titles', async () => {
  const lists = {
    citations: ['https://a.test/x', 'https://b.test', 'javascript:alert(1)', 'https://a.test/x', 'https://c.test/'],
    search_results: [{ title: 'A', url: 'https://a.test/x' }],
  };
  const { heard, text } = await read('openai', [
    delta({ content: 'Yes [1]' }, lists),
    delta({ content: ', and [5].' }, lists),
    done,
  ]);
  assert.equal(text, 'Yes [1], and [5].');
  assert.deepEqual(heard, [
    web('https://a.test/x', 'A', 1),
    web('https://b.test', undefined, 2),
    web('https://c.test/', undefined, 5),
  ]);
});

test('reads annotations of chat completions, streamed and whole', async () => {
  const annotations = [
    { type: 'url_citation', url_citation: { url: 'https://a.test/', title: 'A\n page', start_index: 0, end_index: 3 } },
    { type: 'url_citation', url: 'https://b.test/', title: '' },
    { type: 'file_citation', file_citation: { file_id: 'f', filename: 'plan.pdf' } },
    { type: 'url_citation', url_citation: { url: 'ftp://x.test/' } },
    null,
  ];
  const expected = [
    web('https://a.test/', 'A  page'),
    web('https://b.test/'),
    { kind: 'document', title: 'plan.pdf', mediaType: 'text/plain', filename: 'plan.pdf' },
  ];
  const streamed = await read('openai', [delta({ content: 'Hi' }), delta({ annotations }), done]);
  assert.deepEqual(streamed.heard, expected);
  const whole = { choices: [{ index: 0, message: { content: 'Hi', annotations }, finish_reason: 'stop' }] };
  assert.deepEqual((await read('openai', [whole], true)).heard, expected);
});

test('bounds the sources of an answer', async () => {
  const citations = Array.from({ length: 500 }, (_, at) => `https://a.test/${at}`);
  const long = [`https://a.test/${'x'.repeat(5000)}`, 'https://user:secret@a.test/', 'not an address', 7, null];
  const { heard } = await read('openai', [
    delta({ content: 'x' }, { citations: long }),
    delta({}, { citations }),
    done,
  ]);
  assert.equal(heard.length, 50);
});

test('reads sources of Responses', async () => {
  const annotation = { type: 'url_citation', url: 'https://a.test/', title: 'A' };
  const item = {
    type: 'message',
    id: 'm',
    content: [
      { type: 'output_text', text: 'Hi', annotations: [annotation, { type: 'file_citation', filename: 'b.txt' }] },
    ],
  };
  const { heard } = await read('openai-responses', [
    { type: 'response.output_text.delta', output_index: 0, item_id: 'm', delta: 'Hi' },
    { type: 'response.output_text.annotation.added', output_index: 0, item_id: 'm', annotation },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { status: 'completed', output: [item] } },
  ]);
  assert.deepEqual(heard, [
    web('https://a.test/', 'A'),
    { kind: 'document', title: 'b.txt', mediaType: 'text/plain', filename: 'b.txt' },
  ]);
});

test('reads sources of Gemini', async () => {
  const groundingMetadata = {
    groundingChunks: [
      { web: { uri: 'https://a.test/', title: 'A' } },
      { retrievedContext: { uri: 'gs://bucket/plan.pdf', title: 'Plan' } },
      { maps: { uri: 'https://maps.test/1', title: 'Café' } },
    ],
  };
  const content = { role: 'model', parts: [{ text: 'Hi' }] };
  const { heard } = await read('gemini', [
    { candidates: [{ content }] },
    { candidates: [{ content: { parts: [] }, groundingMetadata, finishReason: 'STOP' }] },
  ]);
  assert.deepEqual(heard, [
    web('https://a.test/', 'A'),
    { kind: 'document', title: 'Plan', mediaType: 'text/plain', filename: 'plan.pdf' },
    web('https://maps.test/1', 'Café'),
  ]);
});

test('reads the citations and search results of Anthropic', async () => {
  const found = [
    { type: 'web_search_result', url: 'https://a.test/', title: 'A', encrypted_content: 'x' },
    { type: 'web_search_result', url: 'https://b.test/', title: 'B', encrypted_content: 'x' },
  ];
  const citation = { type: 'web_search_result_location', url: 'https://b.test/', title: 'B', cited_text: 'so' };
  const page = { type: 'page_location', document_index: 0, document_title: 'Plan', cited_text: 'so' };
  const { heard } = await read('anthropic', [
    { type: 'message_start', message: { usage: {} } },
    { type: 'content_block_start', index: 0, content_block: { type: 'web_search_tool_result', content: found } },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hi' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'citations_delta', citation } },
    { type: 'content_block_delta', index: 1, delta: { type: 'citations_delta', citation: page } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ]);
  assert.deepEqual(heard, [
    web('https://a.test/', 'A'),
    web('https://b.test/', 'B'),
    { kind: 'document', title: 'Plan', mediaType: 'application/pdf' },
  ]);
});

test('reads the pictures of chat completions by their bytes, each once', async () => {
  const image = (url: string) => ({ type: 'image_url', image_url: { url } });
  const images = [
    image(`data:image/jpeg;base64,${png.replace(/.{20}/g, '$&\r\n')}`),
    image(`data:image/png;base64,${png}`),
    image(`data:image/png;base64,${Buffer.from('<svg onload="alert(1)"/>').toString('base64')}`),
    image('https://tracker.test/pixel.png'),
    { type: 'image_url', image_url: `data:image/gif;base64,${gif.replace(/=+$/, '')}` },
    null,
  ];
  const expected = [`image/png ${png}`, `image/gif ${gif}`];
  const streamed = await read('openai', [delta({ content: 'Here' }), delta({ content: '', images }), done]);
  assert.deepEqual([streamed.heard, streamed.text], [expected, 'Here']);
  const message = { role: 'assistant', content: null, images };
  const whole = { choices: [{ index: 0, message, finish_reason: 'stop' }] };
  assert.deepEqual((await read('openai', [whole], true)).heard, expected);
  const parts = [{ type: 'text', text: 'Here' }, image(`data:image/png;base64,${png}`)];
  assert.deepEqual((await read('openai', [delta({ content: parts }), done])).heard, [`image/png ${png}`]);
});

test('reads the pictures of Gemini and Responses', async () => {
  const parts = [
    { text: 'Draft', thought: true },
    { inlineData: { mimeType: 'image/gif', data: gif }, thought: true },
    { text: 'Here' },
    { inlineData: { mimeType: 'application/octet-stream', data: png } },
  ];
  const gemini = await read('gemini', [{ candidates: [{ content: { parts }, finishReason: 'STOP' }] }]);
  assert.deepEqual([gemini.heard, gemini.text], [[`image/png ${png}`], 'Here']);
  const item = { type: 'image_generation_call', id: 'ig', status: 'completed', result: png };
  const responses = await read('openai-responses', [
    { type: 'response.output_item.added', output_index: 0, item: { ...item, result: null } },
    { type: 'response.image_generation_call.partial_image', output_index: 0, partial_image_b64: gif },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { status: 'completed', output: [item] } },
  ]);
  assert.deepEqual(responses.heard, [`image/png ${png}`]);
});

test('bounds the pictures of an answer in count and size', async () => {
  const picture = (at: number) => Buffer.concat([Buffer.from(png, 'base64'), Buffer.from([at])]).toString('base64');
  const images = Array.from({ length: 20 }, (_, at) => ({
    image_url: { url: `data:image/png;base64,${picture(at)}` },
  }));
  assert.equal((await read('openai', [delta({ images }), done])).heard.length, 8);
  assert.equal(decodePicture(`data:image/png;base64,${'A'.repeat(16_000_000)}`), undefined);
  assert.equal(decodePicture('artifact://x'), undefined);
  const large = Buffer.concat([Buffer.from(png, 'base64'), Buffer.alloc(4_000_000)]).toString('base64');
  const url = `data:image/png;base64,${large}`;
  assert.equal((await read('openai', [delta({ images: [{ image_url: { url } }] }), done])).heard.length, 1);
});
