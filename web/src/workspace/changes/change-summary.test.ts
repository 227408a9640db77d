import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { ChangedFile } from '@homeport/contracts/workspace/daemon';
import { keepSummary, readSummary, summaryOf } from './change-summary.ts';

const stored = new Map<string, string>();
beforeEach(() => {
  stored.clear();
  Object.assign(globalThis, {
    localStorage: {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
    },
  });
});

const file = (path: string, rest: Partial<ChangedFile> = {}): ChangedFile => ({
  path,
  change: 'modified',
  before: null,
  after: null,
  state: 'applied',
  mixed: false,
  ...rest,
});

test('sums the lines of the changed files and counts undone ones', () => {
  assert.equal(summaryOf({ files: [] }), undefined);
  assert.deepEqual(summaryOf({ files: [file('~/a.png')] }), { files: 1, undone: 0 });
  assert.deepEqual(
    summaryOf({
      files: [
        file('~/a', { lines: { added: 10, removed: 1 } }),
        file('~/b', { lines: { added: 4, removed: 2 }, state: 'undone' }),
        file('~/c.png'),
      ],
    }),
    { files: 3, undone: 1, added: 14, removed: 3 },
  );
});

test('keeps the summaries of the newest answers and survives what is stored otherwise', () => {
  for (let index = 0; index < 250; index += 1) keepSummary(`m${index}`, { files: index, undone: 0 });
  assert.equal(readSummary('m49'), undefined);
  assert.deepEqual(readSummary('m50'), { files: 50, undone: 0 });
  keepSummary('m50', undefined);
  assert.equal(readSummary('m50'), undefined);
  for (const text of ['', '{', '5', '[5]', '[["a"]]', '[["a",{"files":"x","undone":0}]]', '[["a",null]]']) {
    stored.set('changed-files:v1', text);
    assert.equal(readSummary('a'), undefined, text);
  }
});
