import assert from 'node:assert/strict';
import test from 'node:test';
import type { Artifact } from '@homeport/contracts/files/artifacts';
import { allFolders, contentOf, folderOf, joinPath, nameOf } from './folders.ts';

const at = (path: string) => ({ path, filename: nameOf(path) }) as Artifact;
const files = ['b 10.txt', 'b 2.txt', 'docs/x.md', 'docs/deep/y.md', 'docsx/z'].map(at);

test('lists the direct files and folders in natural order', () => {
  const top = contentOf(files, '');
  assert.deepEqual(top.folders, [
    { path: 'docs', name: 'docs', count: 2 },
    { path: 'docsx', name: 'docsx', count: 1 },
  ]);
  assert.deepEqual(
    top.files.map(({ path }) => path),
    ['b 2.txt', 'b 10.txt'],
  );
  assert.deepEqual(
    contentOf(files, 'docs').files.map(({ path }) => path),
    ['docs/x.md'],
  );
  assert.deepEqual(allFolders(files), ['docs', 'docs/deep', 'docsx']);
});

test('paths come apart and together', () => {
  for (const path of ['a', 'a/b', 'a/b/c']) assert.equal(joinPath(folderOf(path), nameOf(path)), path);
});
