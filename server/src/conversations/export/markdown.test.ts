import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import { markdownHead, markdownMessage } from './markdown.ts';

const createdAt = new Date(0);
const body = (parts: MessagePart[]) =>
  markdownMessage({ role: 'user', parts, status: 'complete', error: null, createdAt })
    .split('\n')
    .slice(3, -1)
    .join('\n');

const bodies: [name: string, parts: MessagePart[], markdown: string][] = [
  ['text goes as it is', [{ type: 'text', text: '# Mine\n*as typed*' }], '# Mine\n*as typed*'],
  ['an open fence is closed', [{ type: 'text', text: '```js\nlet a' }], '```js\nlet a\n```'],
  [
    'a longer fence needs a longer end',
    [{ type: 'text', text: '````\n```\nstill code' }],
    '````\n```\nstill code\n````',
  ],
  ['closed fences stay', [{ type: 'text', text: '~~~\na\n~~~' }], '~~~\na\n~~~'],
  ['reasoning is quoted', [{ type: 'reasoning', text: 'a\n\nb' }], '> **Reasoning**\n> \n> a\n> \n> b'],
  [
    'a file is a link, its data is left out',
    [
      { type: 'file', mediaType: 'text/plain', filename: 'a](x).txt', url: 'artifact://1 2' },
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AAAA' },
      { type: 'file', mediaType: 'image/png', filename: 'x', url: 'javascript:alert(1)' },
    ],
    '[a\\](x).txt](<artifact://1%202>)\n\n[image/png] (image/png)\n\n[x] (image/png)',
  ],
  [
    'a tool shows input and output in a fence that holds them',
    [
      {
        type: 'dynamic-tool',
        toolName: 'bash',
        toolCallId: '1',
        state: 'output-available',
        input: { command: 'ls' },
        output: 'a\n```\nb',
      },
    ],
    '**Tool bash**\n\n```json\n{\n  "command": "ls"\n}\n```\n\n````\na\n```\nb\n````',
  ],
];
for (const [name, parts, markdown] of bodies) test(name, () => assert.equal(body(parts), markdown));

test('writes a title as one line and one heading', () => {
  assert.equal(markdownHead('a\n# b <script>'), '# a \\# b \\<script\\>\n');
});

test('marks an answer that was cut off', () => {
  const parts: MessagePart[] = [{ type: 'text', text: 'Half an' }];
  const shown = markdownMessage({
    role: 'assistant',
    parts,
    status: 'complete',
    error: null,
    finishReason: 'length',
    createdAt,
  });
  assert.match(shown, /Half an\n\n\*\(cut off at the output limit\)\*/);
});

test('marks a message that failed', () => {
  const shown = markdownMessage({ role: 'assistant', parts: [], status: 'failed', error: 'no *luck*', createdAt });
  assert.equal(shown, '\n## Assistant, 1970-01-01T00:00:00.000Z\n\n*(failed: no \\*luck\\*)*\n');
});
