import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameOf, readPromptFile, writePromptFile } from './prompt-file.ts';

test('imports exported prompts unchanged', () => {
  const prompts = [
    { name: 'weekly-report', title: 'Weekly report', text: 'Write about {{topic}}.\n' },
    { name: 'b', title: 'B', text: ' x ' },
  ];
  assert.deepEqual(readPromptFile(writePromptFile(prompts)), { prompts, refused: [] });
});

test('imports lists of other products by their member names', () => {
  const file = readPromptFile(JSON.stringify([{ command: '/Fix Grammar', title: 'Fix grammar', content: 'Fix: ' }]));
  assert.deepEqual(file?.prompts, [{ name: 'fix-grammar', title: 'Fix grammar', text: 'Fix: ' }]);
});

test('reports invalid prompts with the reason and imports the others', () => {
  const file = readPromptFile(
    JSON.stringify({
      prompts: [
        { name: 'good', text: 'x' },
        { name: 'good', text: 'y' },
        { title: '???', text: 'x' },
        { name: 'empty', text: '  ' },
        { name: 'long', text: 'x'.repeat(16_001) },
        7,
        null,
      ],
    }),
  );
  assert.deepEqual(file?.prompts, [{ name: 'good', title: 'good', text: 'x' }]);
  assert.deepEqual(file?.refused, [
    { label: '/good', reason: 'twice' },
    { label: '???', reason: 'name' },
    { label: 'empty', reason: 'text' },
    { label: 'long', reason: 'tooLong' },
    { label: '#6', reason: 'notPrompt' },
    { label: '#7', reason: 'notPrompt' },
  ]);
});

test('rejects a file that is not a list of prompts', () => {
  for (const content of ['', '{', '"x"', '{}', '{"prompts": 3}', 'null', JSON.stringify(Array(1001).fill({}))]) {
    assert.equal(readPromptFile(content), undefined, content.slice(0, 40));
  }
});

test('derives the name from the title', () => {
  const cases = [
    ['Weekly report', 'weekly-report'],
    ['Große Übersicht!', 'grosse-ubersicht'],
    ['日本', ''],
    ['a'.repeat(80), 'a'.repeat(64)],
  ] as const;
  for (const [title, name] of cases) assert.equal(nameOf(title), name);
});
