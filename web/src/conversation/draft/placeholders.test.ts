import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillPlaceholders, findPlaceholders, placeholderNames, stepPlaceholder } from './placeholders.ts';

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

test('fills in every place of a placeholder, and leaves one without a value', () => {
  const text = 'To {{name}} about {{ topic }}. Yours, {{name}} {{place}}';
  assert.deepEqual(placeholderNames(text), ['name', 'topic', 'place']);
  const values = new Map([
    ['name', '{{topic}} $1'],
    ['topic', 'tides'],
    ['place', ''],
  ]);
  assert.equal(fillPlaceholders(text, values), 'To {{topic}} $1 about tides. Yours, {{topic}} $1 {{place}}');
  assert.equal(fillPlaceholders('Plain', values), 'Plain');
});
