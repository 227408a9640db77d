import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareChanges, shareValues } from './share-changes.ts';

const ada = { id: 'a', name: 'Ada', email: 'ada@example.org' };
const bo = { id: 'b', name: 'Bo', email: 'bo@example.org' };
const share = { audience: 'people' as const, userIds: ['b', 'a'], people: [ada, bo] };
const endOf = (end: string) => (end === 'never' ? null : `in a ${end}`);

const cases: [name: string, change: object, sent: object][] = [
  ['nothing for unchanged values', {}, {}],
  ['nothing for the same people in another order', { people: [bo, ada] }, {}],
  ['other people', { people: [ada] }, { userIds: ['a'] }],
  ['another audience without people', { audience: 'signed_in' }, { audience: 'signed_in' }],
  ['an end', { end: 'week' }, { expiresAt: 'in a week' }],
  ['no end', { end: 'never' }, { expiresAt: null }],
  ['a password', { password: 'open sesame' }, { password: 'open sesame' }],
  ['no password any more', { hasNoPassword: true, password: 'x' }, { password: null }],
];
for (const [name, change, sent] of cases) {
  test(`sends ${name}`, () => {
    assert.deepEqual(shareChanges(share, { ...shareValues(share), ...change }, endOf), sent);
  });
}

test('sends the people of a share that had none', () => {
  const open = { audience: 'link' as const, userIds: [], people: [] };
  const values = { ...shareValues(open), audience: 'people' as const, people: [bo] };
  assert.deepEqual(shareChanges(open, values, endOf), { audience: 'people', userIds: ['b'] });
});
