import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseModelList } from './long-list.ts';

const members = Object.fromEntries(
  Array.from({ length: 12 }, (_, index) => [`member_${index}`, [index, { a: '"]}\\' }]]),
);
const entriesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `m-${index} "\\`, ...members }));

test('reads a list with too many members to be parsed at once entry by entry, with the same result', async () => {
  const data = entriesOf(5_000);
  assert.deepEqual(await parseModelList(JSON.stringify({ object: 'list', data, first_id: 'x' }), 10_000), { data });
  assert.deepEqual(await parseModelList(JSON.stringify({ models: data }, null, 1), 10_000), { models: data });
  assert.deepEqual(await parseModelList(JSON.stringify(data), 10_000), data);
  const paged = JSON.stringify({ data, has_more: true, last_id: 'x' });
  assert.deepEqual(await parseModelList(paged, 10_000), { data, has_more: false });
  const cut = await parseModelList(JSON.stringify({ data }), 7);
  assert.deepEqual(cut, { data: data.slice(0, 7) });
});

test('leaves short lists and other values to the parser', async () => {
  assert.deepEqual(await parseModelList('{"data":[{"id":"a"}],"x":1}', 10), { data: [{ id: 'a' }], x: 1 });
  const many = `{"a":{${Array.from({ length: 40_000 }, (_, index) => `"m${index}":1`)}}}`;
  for (const bad of ['', '{', '<!doctype html>', many]) await assert.rejects(parseModelList(bad, 10), SyntaxError);
});

test('rejects a broken, endless, deep or enormous entry', async () => {
  const long = JSON.stringify({ data: entriesOf(5_000) });
  const broken = [
    long.slice(0, -2),
    `${long.slice(0, 200_000)}"`,
    long.replace('"m-4000', "'m-4000"),
    `{"data":[{"id":"${'x'.repeat(70_000)}"},${'0,'.repeat(120_000)}0]}`,
    `{"data":[${'['.repeat(1_000_000)}`,
  ];
  for (const text of broken) await assert.rejects(parseModelList(text, 10_000), SyntaxError, text.slice(-20));
});

test('yields to other work while it reads four megabytes', async () => {
  const text = JSON.stringify({ data: entriesOf(10_000) });
  assert.ok(text.length > 3_000_000);
  let turns = 0;
  const counted = setInterval(() => {
    turns += 1;
  }, 0);
  await parseModelList(text, 10_000);
  clearInterval(counted);
  assert.ok(turns >= 5, `${turns} turns`);
});
