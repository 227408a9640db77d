import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import { FileNumbers, publishedParts } from './published-parts.ts';

const nothing = { reasoning: false, tools: false, files: false, author: false };
const tool: MessagePart = {
  type: 'dynamic-tool',
  toolName: 'bash',
  toolCallId: 'c',
  state: 'output-available',
  input: { command: 'cat /home/user/a' },
  output: ['/home/user/b', '/home/username'],
};
const file: MessagePart = { type: 'file', mediaType: 'text/plain', filename: 'a.txt', url: 'artifact://file-1' };

const cases: [name: string, part: MessagePart, include: object, published: unknown[]][] = [
  ['text', { type: 'text', text: 'Hi', state: 'done' }, {}, [{ type: 'text', text: 'Hi' }]],
  ['reasoning left out', { type: 'reasoning', text: 'Hm' }, {}, []],
  ['reasoning', { type: 'reasoning', id: 'r', text: 'Hm' }, { reasoning: true }, [{ type: 'reasoning', text: 'Hm' }]],
  ['a tool left out', tool, { reasoning: true, files: true, author: true }, []],
  [
    'a tool without the home folder',
    tool,
    { tools: true },
    [{ ...tool, input: { command: 'cat ~/a' }, output: ['~/b', '/home/username'], errorText: undefined }],
  ],
  ['a file left out', file, { tools: true }, []],
  ['a file by its number', file, { files: true }, [{ ...file, url: 'share-file:0' }]],
  ['a file of another address', { ...file, url: 'javascript:alert(1)' } as MessagePart, { files: true }, []],
  [
    'a web page',
    { type: 'source-url', sourceId: '1', url: 'https://a.test/', title: 'A' },
    {},
    [{ type: 'source-url', sourceId: '1', url: 'https://a.test/', title: 'A' }],
  ],
  ['a web page of another scheme', { type: 'source-url', sourceId: '1', url: 'javascript:alert(1)' }, {}, []],
  [
    'a document by its title',
    { type: 'source-document', sourceId: '2', mediaType: 'application/pdf', title: 'Law', filename: 'l.pdf' },
    {},
    [{ type: 'source-document', sourceId: '2', title: 'Law' }],
  ],
  [
    'a document without the home folder',
    { type: 'source-document', sourceId: '2', mediaType: 'text/plain', title: ' ', filename: '/home/user/notes.txt' },
    {},
    [{ type: 'source-document', sourceId: '2', title: '~/notes.txt' }],
  ],
  ['a notice', { type: 'data-notice', data: { message: 'x' } }, { reasoning: true, tools: true, files: true }, []],
  ['a step', { type: 'step-start' }, { reasoning: true, tools: true, files: true }, []],
];
for (const [name, part, include, published] of cases) {
  test(`publishes ${name}`, () => {
    assert.deepEqual(publishedParts([part], { ...nothing, ...include }, new FileNumbers()), published);
  });
}

test('numbers each file once, in the order in which messages name them', () => {
  const files = new FileNumbers();
  const named = ['b', 'a', 'b'].map((id): MessagePart => ({ type: 'file', mediaType: 'x/y', url: `artifact://${id}` }));
  const published = publishedParts(named, { ...nothing, files: true }, files);
  assert.deepEqual(
    published.map(({ url }) => url),
    ['share-file:0', 'share-file:1', 'share-file:0'],
  );
  assert.deepEqual(files.ids, ['b', 'a']);
});
