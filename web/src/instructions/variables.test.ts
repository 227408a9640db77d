import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unknownVariables } from './variables.ts';

test('accepts supported variables', () => {
  assert.deepEqual(
    unknownVariables('{{user_name}}, {{ current_date }}: {{language}} in {{timezone}}. {{user_name}}'),
    [],
  );
});

test('reports unknown variables once each, as written, in order', () => {
  const found = unknownVariables('{{topic}} and {{ tone }}, again {{topic}}');
  assert.deepEqual(
    found.map(({ text, meant }) => [text, meant]),
    [
      ['{{topic}}', undefined],
      ['{{ tone }}', undefined],
    ],
  );
});

test("suggests our variable for another product's name", () => {
  const cases = [
    ['{{USER_NAME}}', 'user_name'],
    ['{{current_user}}', 'user_name'],
    ['{{CURRENT_DATE}}', 'current_date'],
    ['{{date}}', 'current_date'],
    ['{{USER_LANGUAGE}}', 'language'],
    ['{{ Time Zone }}', 'timezone'],
    ['{{CURRENT_TIMEZONE}}', 'timezone'],
  ] as const;
  for (const [text, meant] of cases) assert.deepEqual(unknownVariables(`Say ${text}.`), [{ text, meant }]);
});

test('ignores braces without a variable', () => {
  for (const text of ['{}', '{{}}', '{{ }}', '{user}', '{{a\nb}}', '{{open', '{ {x} }', `{{${'x'.repeat(101)}}}`]) {
    assert.deepEqual(unknownVariables(text), [], text);
  }
});

test('parses a long text of open braces in linear time', () => {
  assert.deepEqual(unknownVariables('{{'.repeat(8_000)), []);
});
