import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listedModels } from './model-list.ts';

const idsOf = async (answer: unknown): Promise<string[] | undefined> =>
  (await listedModels('openai', answer, 100))?.map(({ id }) => id);

test('reads the lists of models that servers send', async () => {
  const lists: [unknown, string[] | undefined][] = [
    [{ data: [{ id: 'a' }, { id: 'a' }, { id: 'b' }] }, ['a', 'b']],
    [[{ id: 'a' }], ['a']],
    [{ models: [{ name: 'a' }] }, ['a']],
    [{ models: [{ name: 'A model', model: 'a:latest' }] }, ['a:latest']],
    [{ data: ['a', 'b', '', 7] }, ['a', 'b']],
    [{ data: { a: { id: 'a' }, b: { id: 'b' } } }, ['a', 'b']],
    [{ object: 'list', data: null }, []],
    [{ data: {} }, undefined],
    [{ data: { message: 'a' } }, undefined],
    [{ error: { id: 'a' } }, undefined],
    ['<html>', undefined],
  ];
  for (const [answer, ids] of lists) assert.deepEqual(await idsOf(answer), ids, JSON.stringify(answer));
});
