import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPlaceholders, stepPlaceholder } from './placeholders.ts';

const text = 'To {{name}} about {{the topic}}.';

test('finds placeholders with their braces, not incomplete ones or code', () => {
  assert.deepEqual(
    findPlaceholders(text).map(({ start, end }) => text.slice(start, end)),
    ['{{name}}', '{{the topic}}'],
  );
  assert.deepEqual(findPlaceholders('{{}} {{a} {b}} {{a\nb}} { {x} }'), []);
});

test('steps forward and back through placeholders, and past the last one', () => {
  const [name, topic] = findPlaceholders(text);
  assert.ok(name && topic);
  assert.deepEqual(stepPlaceholder(text, { start: 0, end: 0 }, false), name);
  assert.deepEqual(stepPlaceholder(text, name, false), topic);
  assert.equal(stepPlaceholder(text, topic, false), undefined);
  assert.deepEqual(stepPlaceholder(text, topic, true), name);
  assert.equal(stepPlaceholder(text, name, true), undefined);
  const filled = 'To Ada about {{the topic}}.';
  assert.deepEqual(stepPlaceholder(filled, { start: 6, end: 6 }, false), { start: 13, end: 26 });
});
