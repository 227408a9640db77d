import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import { numberedPieces, sourcesOf } from './sources.ts';

const parts = (...values: unknown[]) => values as MessagePart[];

test('lists the sources of an answer in order, each address once', () => {
  const sources = sourcesOf(
    parts(
      { type: 'source-url', sourceId: '1', url: 'https://a.test/x', title: 'A' },
      { type: 'text', text: 'Hello [1]' },
      { type: 'source-url', sourceId: '2', url: 'https://b.test/' },
      { type: 'source-url', sourceId: '3', url: 'https://a.test/x', title: 'A again' },
      { type: 'source-document', sourceId: '4', mediaType: 'application/pdf', title: '', filename: 'report.pdf' },
    ),
  );
  assert.deepEqual(sources, [
    { title: 'A', href: 'https://a.test/x', number: 1 },
    { title: 'https://b.test/', href: 'https://b.test/', number: 2 },
    { title: 'report.pdf', href: undefined, number: 4 },
  ]);
});

test('never links a source to anything but the web, and bounds the list', () => {
  const bad = ['javascript:alert(1)', 'data:text/html,x', '/api/me', '', 7, null];
  assert.deepEqual(sourcesOf(parts(...bad.map((url) => ({ type: 'source-url', url })))), []);
  const many = Array.from({ length: 500 }, (_, at) => ({ type: 'source-url', url: `https://a.test/${at}` }));
  assert.equal(sourcesOf(parts(...many)).length, 50);
});

test('links the numbers in a text to the sources with these numbers', () => {
  const sources = sourcesOf(
    parts(
      { type: 'source-url', sourceId: '1', url: 'https://a.test/' },
      { type: 'source-url', sourceId: '3', url: 'https://c.test/' },
      { type: 'source-document', sourceId: '4', mediaType: 'text/plain', title: 'Notes' },
    ),
  );
  const linked = sources.filter(({ href }) => href !== undefined);
  const pieces = numberedPieces('One [1][3], two [2], four [4], [x] and [1', linked);
  assert.deepEqual(
    pieces.map((piece) => (typeof piece === 'string' ? piece : piece.href)),
    ['One ', 'https://a.test/', 'https://c.test/', ', two [2], four [4], [x] and [1'],
  );
  assert.deepEqual(numberedPieces('', sources), []);
});
