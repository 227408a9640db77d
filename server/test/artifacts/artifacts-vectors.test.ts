import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat, paths, put, upload } from './artifact-makers.ts';

/** Every case of vectors/path-vectors.json whose target is an artifact. */

type Vector = { id: string; target?: string; op: string; path: string; verdict: string; why: string; note?: string };
const all: Vector[] = JSON.parse(readFileSync(new URL('../vectors/path-vectors.json', import.meta.url), 'utf8'));
const vectors = all.filter((vector) => vector.target === 'artifact');

let app: TestApp;
let user: SignedIn;
before(async () => {
  app = await startTestApp();
  user = await app.signIn();
});
after(() => app.stop());

const codes = new Map([
  [400, ['invalid_path', 'invalid_request']],
  [404, ['not_found']],
  [409, ['path_taken']],
]);

test('the vectors are not empty', () => assert.equal(vectors.length, 25));

for (const vector of vectors) {
  test(`${vector.id} ${vector.op} ${JSON.stringify(vector.path.slice(0, 40))}: ${vector.why}`, async () => {
    const chatId = await createChat(user);
    const { status, body, unharmed } = await run(vector, chatId);
    if (vector.verdict === 'allow') assert.ok(status === 200 || status === 201, JSON.stringify(body));
    else {
      assert.ok(codes.get(status)?.includes(body.error.code), `${status} ${JSON.stringify(body)}`);
      assert.ok(!JSON.stringify(body).includes('..'), 'the path is not echoed');
    }
    const present = await paths(user, { chatId });
    for (const path of unharmed) assert.ok(present.includes(path), `${path} of ${present}`);
  });
}

/** Runs a vector and asserts which files are there afterwards. */
async function run(vector: Vector, chatId: string) {
  if (vector.op === 'artifact-put') {
    const path = vector.note?.includes('lone surrogate')
      ? Buffer.from('\u00ed\u00a0\u0080.txt', 'latin1')
      : vector.path;
    const answer = await upload(user, { chatId, path: path as string }, { bytes: 'x' });
    return { ...answer, unharmed: vector.verdict === 'allow' ? [vector.path.normalize('NFC')] : [] };
  }
  if (vector.op === 'artifact-delete-prefix') {
    const kept = ['100x/a', 'abc/a', 'x'];
    for (const path of [...kept, '100%/a', 'a_c/a']) await put(user, { chatId }, path);
    const answer = await user.call('DELETE /api/artifacts', undefined, { query: { chatId, prefix: vector.path } });
    if (vector.verdict === 'allow') assert.equal(answer.body.deleted, 1);
    return { ...answer, unharmed: kept };
  }
  if (vector.op === 'artifact-move' && vector.path.startsWith('file "a"')) {
    await put(user, { chatId }, 'a');
    return { ...(await upload(user, { chatId, path: 'a/b' }, { bytes: 'x' })), unharmed: ['a'] };
  }
  assert.equal(vector.op, 'artifact-move');
  const [from = '', to = ''] = vector.path.split(' -> ');
  for (const path of ['a.txt', 'existing.txt']) await put(user, { chatId }, path);
  if (to !== 'other namespace') {
    return { ...(await user.call('PATCH /api/artifacts', { chatId, from, to })), unharmed: ['a.txt', 'existing.txt'] };
  }
  const other = await createChat(user);
  const { body } = await user.call('GET /api/artifacts/stat', undefined, { query: { chatId, path: from } });
  const answer = await user.call('PATCH /api/artifacts', { chatId: other, id: body.artifact.id, to: 'a.txt' });
  return { ...answer, unharmed: ['a.txt', 'existing.txt'] };
}
