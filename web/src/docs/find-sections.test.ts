import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSections, type SearchIndex } from './find-sections.ts';

const index: SearchIndex = {
  pages: [
    ['/docs/operations', 'Operations'],
    ['/docs/settings', 'Settings'],
  ],
  sections: [
    [0, '', 'operations', 'For people who run Homeport.'],
    [0, 'Backup and restore', 'backup-and-restore', `${'Words before it. '.repeat(20)}Keep the passphrase elsewhere.`],
    [1, 'ARTIFACT_STORE', 'artifact_store', 'Has to be in a backup. '],
    [1, 'BACKUP_TO', 'backup_to', 'Where they go.'],
  ],
};

test('a word in a heading comes before the same word in a text', () => {
  assert.deepEqual(
    findSections(index, 'backup').map(({ address }) => address),
    ['/docs/operations#backup-and-restore', '/docs/settings#backup_to', '/docs/settings#artifact_store'],
  );
});

test('requires every word of the query, in any order and case', () => {
  assert.deepEqual(
    findSections(index, 'PASSPHRASE backup').map(({ heading }) => heading),
    ['Backup and restore'],
  );
  assert.deepEqual(findSections(index, 'backup zebra'), []);
});

test('shows the word in the excerpt, links page openings without an anchor, and finds nothing without words', () => {
  assert.match(findSections(index, 'passphrase')[0]?.excerpt ?? '', /^… .*passphrase elsewhere\.$/);
  assert.equal(findSections(index, 'run homeport')[0]?.address, '/docs/operations');
  assert.deepEqual(findSections(index, ' .. '), []);
});
