import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unknownVariables } from './variables.ts';

test('variables that are filled in are not pointed out', () => {
  assert.deepEqual(
    unknownVariables('{{user_name}}, {{ current_date }}: {{language}} in {{timezone}}. {{user_name}}'),
    [],
  );
});

test('unknown variables are pointed out once each, as they are written, in their order', () => {
  const found = unknownVariables('{{topic}} and {{ tone }}, again {{topic}}');
  assert.deepEqual(
    found.map(({ text, meant }) => [text, meant]),
    [
      ['{{topic}}', undefined],
      ['{{ tone }}', undefined],
    ],
  );
});

test('a variable as another product calls it leads to ours', () => {
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

test('braces that are no variable are left alone', () => {
  for (const text of ['{}', '{{}}', '{{ }}', '{user}', '{{a\nb}}', '{{open', '{ {x} }', `{{${'x'.repeat(101)}}}`]) {
    assert.deepEqual(unknownVariables(text), [], text);
  }
});

test('a long text of open braces is read in one go', () => {
  assert.deepEqual(unknownVariables('{{'.repeat(8_000)), []);
});
