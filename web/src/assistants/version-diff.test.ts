import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AssistantVersion } from '@homeport/contracts/assistants';
import { changedFields, type VersionLabels, versionTexts } from './version-diff.ts';

const words: VersionLabels = {
  model: ({ modelId, tier }) => modelId ?? (tier === null ? 'default' : `tier ${tier}`),
  server: (id) => `server ${id}`,
  allServers: 'all',
  picture: 'a picture',
  on: 'on',
  off: 'off',
};
const first: AssistantVersion = {
  name: 'Editor',
  description: '',
  icon: null,
  instructions: 'Be brief and kind.',
  modelId: null,
  tier: null,
  parameters: {},
  mcpServerIds: null,
  workspace: true,
  starters: [],
  version: 1,
  audience: 'me',
  missing: { model: false, mcpServers: 0 },
  files: [],
  authorId: 'u1',
  authorName: 'Ada',
  createdAt: '2026-01-01T00:00:00.000Z',
};

test('finds no difference in the same content', () => {
  assert.deepEqual(changedFields(versionTexts(first, words), versionTexts({ ...first, version: 2 }, words)), []);
});

test('lists each changed field, texts word by word', () => {
  const second: AssistantVersion = {
    ...first,
    instructions: 'Be brief and strict.',
    tier: 2,
    mcpServerIds: ['s1', 's2'],
    workspace: false,
    icon: 'data:image/png;base64,AAAA',
  };
  const changes = changedFields(versionTexts(first, words), versionTexts(second, words));
  assert.deepEqual(
    changes.map(({ field }) => field),
    ['icon', 'instructions', 'model', 'servers', 'workspace'],
  );
  assert.deepEqual(changes.find(({ field }) => field === 'instructions')?.runs, [
    { kind: 'same', text: 'Be brief and ' },
    { kind: 'removed', text: 'kind.' },
    { kind: 'added', text: 'strict.' },
  ]);
});

test('shows added and removed knowledge files, and other contents of one', () => {
  const file = { id: 'f1', path: 'law.pdf', size: 1, sha256: 'a'.repeat(64) };
  const kept = { id: 'f2', path: 'notes.txt', size: 1, sha256: 'b'.repeat(64) };
  const before = versionTexts({ ...first, files: [file, kept] }, words);
  const after = versionTexts({ ...first, files: [{ ...file, sha256: 'c'.repeat(64) }, kept] }, words);
  const [change] = changedFields(before, after);
  assert.equal(change?.field, 'files');
  assert.deepEqual(
    change?.runs.filter(({ kind }) => kind !== 'same').map(({ kind, text }) => [kind, text.trim()]),
    [
      ['removed', 'law.pdf (aaaaaaaa)'],
      ['added', 'law.pdf (cccccccc)'],
    ],
  );
});
