import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findTrigger, matchesQuery, parseCompact } from './suggestions.ts';

const at = (text: string) => {
  const cursor = text.indexOf('|');
  return findTrigger(text.replace('|', ''), cursor);
};

test('opens a list for a trigger at the beginning or after a space, with the query after it', () => {
  assert.deepEqual(at('/|'), { sign: '/', start: 0, query: '' });
  assert.deepEqual(at('/trans|'), { sign: '/', start: 0, query: 'trans' });
  assert.deepEqual(at('Bitte /über| heute'), { sign: '/', start: 6, query: 'über' });
  assert.deepEqual(at('one\n@Cook|'), { sign: '@', start: 4, query: 'Cook' });
});

test('leaves trigger characters inside text alone', () => {
  for (const text of [
    'look in /usr/|',
    '/usr/bin|',
    '1/|',
    '1 / 2|',
    '03/04|',
    'and/or|',
    'ada@|',
    'ada@example.org|',
    'https://|',
    '//|',
    '/ |',
    '@@|',
    '/us|r',
    '|/usr',
    `/${'x'.repeat(65)}|`,
    '',
  ])
    assert.equal(at(text), undefined, text);
});

test('a query matches the beginnings of words', () => {
  assert.ok(matchesQuery('', 'anything'));
  assert.ok(matchesQuery('weekly-r', 'weekly-report', 'Report of the week'));
  assert.ok(matchesQuery('rep', 'weekly-report', ''));
  assert.ok(matchesQuery('WEEK', 'x', 'Report of the week'));
  assert.ok(!matchesQuery('usr', 'summary', 'Summarize it'));
  assert.ok(!matchesQuery('eek', 'weekly'));
});

test('/compact alone or with a focus is a command, and nothing else is', () => {
  assert.deepEqual(parseCompact('/compact'), { focus: '' });
  assert.deepEqual(parseCompact(' /compact the budget\nand names '), { focus: 'the budget\nand names' });
  for (const text of ['/compacted', 'use /compact', 'compact', '/compact-it'])
    assert.equal(parseCompact(text), undefined);
});
