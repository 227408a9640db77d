import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Assistant } from '@homeport/contracts/assistants';
import { assistantBody, assistantFaults, assistantValues, emptyValues } from './assistant-values.ts';

const t = (id: string) => id;
const stored: Assistant = {
  id: 'a1',
  name: 'Editor',
  description: 'Improves texts',
  icon: null,
  instructions: 'Be brief.',
  modelId: null,
  tier: 2,
  parameters: { temperature: 0.2 },
  mcpServerIds: ['s1'],
  workspace: false,
  starters: ['Improve this:'],
  audience: 'project',
  projectId: 'p1',
  ownerId: 'u1',
  ownerName: 'Ada',
  canEdit: true,
  fileCount: 0,
  missing: { model: false, mcpServers: 0 },
  version: 3,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};

test('sends nothing for an unchanged assistant', () => {
  const values = assistantValues(stored);
  assert.deepEqual(assistantBody(values, assistantValues(stored)), {});
  assert.ok(Object.values(assistantFaults(values, t)).every((fault) => fault === null));
});

test('sends only changed members, so that hidden ones are kept', () => {
  const before = assistantValues({ ...stored, missing: { model: true, mcpServers: 2 } });
  assert.equal(before.answerer, 'missing');
  assert.deepEqual(assistantBody({ ...before, name: ' Editor in chief ' }, before), { name: 'Editor in chief' });
});

test('replaces a tier by a model, and both by the reader’s default', () => {
  const before = assistantValues(stored);
  assert.deepEqual(assistantBody({ ...before, answerer: 'model:m:1' }, before), { modelId: 'm:1', tier: null });
  assert.deepEqual(assistantBody({ ...before, answerer: '' }, before), { tier: null });
});

test('sends a project only with the project audience', () => {
  const before = assistantValues(stored);
  assert.deepEqual(assistantBody({ ...before, audience: 'me' }, before), { audience: 'me', projectId: null });
  const moved = { audience: 'project', projectId: 'p2' } as const;
  assert.deepEqual(assistantBody({ ...before, ...moved }, before), moved);
});

test('requires a name, and a project for the project audience', () => {
  const faults = assistantFaults({ ...emptyValues, audience: 'project' }, t);
  assert.equal(faults.name, 'form.required');
  assert.equal(faults.projectId, 'audience.projectMissing');
  const body = assistantBody({ ...emptyValues, name: 'New', starters: [{ key: 'a', text: '  ' }] }, undefined);
  assert.deepEqual(body.starters, []);
  assert.equal(body.audience, 'me');
});
