import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readableValue } from './readable-value.ts';

const local = (date: Date) => new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'short' }).format(date);

test('words times in the time zone of the reader, with what the tool gets', () => {
  for (const raw of [
    '2026-12-01T09:00:00Z',
    '2026-12-01T09:00:00.000+02:00',
    '2026-12-01T09:00',
    '2026-12-01T09:00-05:00',
  ])
    assert.deepEqual(readableValue(raw, 'en'), { kind: 'time', text: local(new Date(raw)), raw });
  assert.deepEqual(readableValue('2026-12-01', 'en'), {
    kind: 'time',
    text: 'Tuesday, December 1, 2026',
    raw: '2026-12-01',
  });
  for (const text of ['2026', '2026-13-45', '2026-12-01 and more', 'soon', '2026-12-01T25:00'])
    assert.deepEqual(readableValue(text, 'en'), { kind: 'text', text });
});

test('lays out lists and members, and shows what is deep or long as JSON', () => {
  assert.deepEqual(readableValue({ guests: ['ada@example.org', 2], note: null }, 'en'), {
    kind: 'members',
    members: [
      [
        'guests',
        {
          kind: 'list',
          items: [
            { kind: 'text', text: 'ada@example.org' },
            { kind: 'code', text: '2' },
          ],
        },
      ],
      ['note', { kind: 'code', text: 'null' }],
    ],
  });
  assert.deepEqual(readableValue([[[[1]]]], 'en'), {
    kind: 'list',
    items: [{ kind: 'list', items: [{ kind: 'list', items: [{ kind: 'code', text: '[\n  1\n]' }] }] }],
  });
  assert.equal(
    readableValue(
      Array.from({ length: 101 }, () => 0),
      'en',
    ).kind,
    'code',
  );
  assert.deepEqual(readableValue([], 'en'), { kind: 'code', text: '[]' });
});
