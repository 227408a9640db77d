import assert from 'node:assert/strict';
import test from 'node:test';
import { crumbsOf, joinPath, nameOf, parentOf, readPath } from './paths.ts';

test('paths come apart and together', () => {
  for (const path of ['~/a', '~/a/b', '~/a b/ü.txt']) assert.equal(joinPath(parentOf(path), nameOf(path)), path);
  assert.equal(parentOf('~'), '~');
  assert.deepEqual(crumbsOf('~'), [{ path: '~', name: '~' }]);
  assert.deepEqual(
    crumbsOf('~/a/b').map(({ path }) => path),
    ['~', '~/a', '~/a/b'],
  );
});

test('falls back to the home for an invalid path', () => {
  for (const given of [undefined, 7, '', '/etc', '~root', '~/', '~//a', 'a', `~/${'x'.repeat(5000)}`]) {
    assert.equal(readPath(given), '~');
  }
  assert.equal(readPath('~/a/b.txt'), '~/a/b.txt');
});
