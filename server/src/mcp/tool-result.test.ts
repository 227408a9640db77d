import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePlain } from './connection/plain-messages.ts';
import { readResult } from './tool-result.ts';

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');
/** A result as it comes through the connection. */
const read = (result: Record<string, unknown>) => {
  makePlain({ jsonrpc: '2.0', id: 1, result });
  return readResult(result);
};
const fileOf = (block: Record<string, unknown>) => {
  const result = read({ content: [block] });
  return 'files' in result ? result.files[0]?.url : undefined;
};

test('reads pictures however a server writes their base64 and type', () => {
  const right = `data:image/png;base64,${png}`;
  for (const [mimeType, data] of [
    ['image/png', png],
    ['image/png', `${png.slice(0, 8)}\r\n${png.slice(8)}\n`],
    ['image/png', png.replace(/=+$/, '')],
    ['image/png', right],
    ['image/png; charset=binary', png],
    ['IMAGE/PNG', png],
    [undefined, png],
    [null, right],
    ['', png],
  ] as const) {
    assert.equal(fileOf({ type: 'image', mimeType, data }), right, JSON.stringify([mimeType, data]));
  }
  const urlSafe = Buffer.from('fbefff', 'hex').toString('base64url');
  assert.equal(fileOf({ type: 'image', mimeType: 'image/png', data: urlSafe }), 'data:image/png;base64,++//');
  const blob = { type: 'resource', resource: { uri: 'file:///a.csv', mimeType: 'text/csv', blob: 'YSxi\nCg' } };
  assert.equal(fileOf(blob), 'data:text/csv;base64,YSxiCg==');
  for (const data of ['not base64!', 5, undefined, 'AAAAA']) {
    assert.equal(fileOf({ type: 'image', mimeType: 'image/png', data }), undefined, String(data));
  }
});

test('tells the model what failed, also in structured content', () => {
  assert.deepEqual(read({ isError: true, content: [], structuredContent: { code: 'E42', hint: 'no such row' } }), {
    errorText: '{"code":"E42","hint":"no such row"}',
  });
  const both = read({ isError: true, content: [{ type: 'text', text: 'Failed' }], structuredContent: { code: 'E42' } });
  assert.deepEqual(both, { errorText: 'Failed\n{"code":"E42"}' });
  const same = read({ isError: true, content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } });
  assert.deepEqual(same, { errorText: '{"a":1}' });
});
