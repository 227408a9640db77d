import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { sweepBlobs } from '../../src/artifacts/blobs.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { makeProject, upload } from '../artifacts/artifact-makers.ts';
import { addModels, createChat, nextId, postChat, readStream } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { chunk, finish, say } from '../fakes/provider/provider-scripts.ts';
import { makeDocx, makePdf, makeZip, paragraph } from './document-makers.ts';

/**
 * Documents from the upload to the response: the text for users and models, search, and the life of extracted texts.
 */

let app: TestApp;
let provider: FakeProvider;
let user: SignedIn;
let researcher: string;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ config: { artifactMaxUploadBytes: 4 * 1024 * 1024 } });
  user = await app.signIn();
  [, researcher = ''] = await addModels(user, provider, ['words-3', 'researcher']);
});
after(async () => {
  await app.stop();
  await provider.close();
});

async function store(scope: object, name: string, bytes: Uint8Array | string, who = user): Promise<string> {
  const answer = await upload(who, { ...scope }, { name, bytes, type: 'application/octet-stream' });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.artifact.id;
}

/** Polls until the file is read, as a client does; at most as long as the tests can take. */
async function textOf(query: Record<string, string>, who = user): Promise<Json> {
  const read = async () => {
    const answer = await who.call('GET /api/artifacts/text', undefined, { query });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.state !== 'working' && answer.body;
  };
  return until('the text', read, 180_000);
}

async function ask(chatId: string, parts: object[], extra: object = {}): Promise<Json> {
  const message = { id: nextId('m'), parts };
  const admitted = await user.call('POST /api/chat/start', { chatId, message, ...extra });
  assert.equal(admitted.status, 201, admitted.text);
  assert.equal((await readStream(await postChat(user, { chatId, messageId: message.id }))).status, 200);
  return (provider.requests.at(-1) as Json).body;
}

const fileOf = (id: string) => ({ type: 'file', mediaType: 'text/plain', filename: 'x', url: `artifact://${id}` });
const lastContent = (body: Json): string => body.messages.at(-1).content;
const toolNames = (body: Json): string[] => (body.tools ?? []).map((tool: Json) => tool.function.name);

test("shows a user the text that a model will read of a file, or the reason why it can't", async () => {
  const chatId = await createChat(user);
  const id = await store({ chatId }, 'plan.pdf', makePdf(['Rent is due\non the third.', 'Notice: three months.']));
  const { tokens, ...read } = await textOf({ chatId, id });
  assert.deepEqual(read, {
    state: 'ready',
    kind: 'pdf',
    pages: 2,
    firstLines: 'Rent is due\non the third.',
    page: null,
    warnings: [],
    problem: null,
  });
  assert.ok(tokens > 5 && tokens < 30, `${tokens}`);
  const { page } = await textOf({ chatId, id, page: '2' });
  assert.deepEqual(page, { number: 2, label: 'page 2', text: 'Notice: three months.' });
  const called = await textOf({ chatId, id, label: 'Page 2' });
  assert.equal(called.page.number, 2);
  const missing = await user.call('GET /api/artifacts/text', undefined, { query: { chatId, id, label: 'slide 2' } });
  assert.equal(missing.status, 404);
  const beyond = await user.call('GET /api/artifacts/text', undefined, { query: { chatId, id, page: '3' } });
  assert.equal(beyond.status, 404);
  const locked = await store({ chatId }, 'locked.docx', makeZip({ 'word/document.xml': 'x' }, { flags: 1 }));
  const failed = await textOf({ chatId, id: locked });
  assert.deepEqual(
    [failed.state, failed.problem],
    ['failed', { code: 'password', message: 'The file is protected by a password. Attach a copy without one.' }],
  );
  const other = await app.signIn();
  const foreign = await other.call('GET /api/artifacts/text', undefined, { query: { chatId, id } });
  assert.equal(foreign.status, 404);
});

test("a model reads a document page by page, or gets the reason why it can't", async () => {
  const chatId = await createChat(user);
  const pdf = await store({ chatId }, 'plan.pdf', makePdf(['First page', 'Second page', '']));
  const broken = await store({ chatId }, 'broken.docx', makeDocx(paragraph('x')).subarray(0, 60));
  const sent = lastContent(await ask(chatId, [{ type: 'text', text: 'Read' }, fileOf(pdf), fileOf(broken)]));
  assert.equal(
    sent,
    [
      'Read',
      '[File plan.pdf, 3 pages]\n[page 1]\nFirst page\n\n[page 2]\nSecond page\n\n[page 3]\n\n' +
        '[plan.pdf: There is no text on page 3. Scanned pages and pictures are not read.]',
      '[File broken.docx (application/vnd.openxmlformats-officedocument.wordprocessingml.document) is not included: The file is damaged or was cut short.]',
    ].join('\n\n'),
  );
  const note = await store({ chatId }, 'note.docx', makeDocx(paragraph('Only this')));
  assert.equal(lastContent(await ask(chatId, [fileOf(note)])), '[File note.docx]\nOnly this');
});

test('documents that do not fit are announced, searched and read, and the response can cite them', async () => {
  const project = await makeProject(app.service.deps.db.pool, [user.id]);
  const { body } = await user.call('POST /api/chats', { projectId: project });
  const chatId: string = body.chat.id;
  assert.deepEqual(
    toolNames(await ask(chatId, [{ type: 'text', text: 'Hello' }])),
    [],
    'there is nothing to search yet',
  );
  const usual = 'The usual words of a lease. The usual words of a lease. The usual words.\n'.repeat(45);
  const pages = Array.from({ length: 60 }, (_, index) => `Chapter ${index + 1}\n${usual}`);
  pages[41] += 'The deposit for the garage is 480 Euro.';
  const long = await store({ projectId: project }, 'lease.pdf', makePdf(pages));
  await store({ projectId: project }, 'other.docx', makeDocx(paragraph('A garage, and nothing about money.')));
  const steps: [string, object][] = [
    ['search_documents', { query: 'What is the deposit for the garages?' }],
    ['search_documents', { query: 'deposit garage' }],
    ['read_document', { id: long, page: 42 }],
    ['read_document', { id: long, page: 99 }],
  ];
  provider.script('researcher', (call) => {
    const results = (call.body.messages ?? []).filter(({ role }) => role === 'tool').length;
    const step = steps[results];
    if (step === undefined) return { steps: [...say('480 Euro [lease.pdf, page 42]'), ...finish(call, 5)] };
    const [name, input] = step;
    const call1 = {
      index: 0,
      id: `c${results}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    };
    return { steps: [chunk({ tool_calls: [call1] }), ...finish(call, 5, 'tool_calls')] };
  });
  const decision = { modelPinned: true, modelId: researcher };
  const last = await ask(chatId, [{ type: 'text', text: 'Deposit?' }, fileOf(long)], decision);
  const contents: string[] = last.messages.map((message: Json) => JSON.stringify(message.content));
  assert.match(contents.join('\n'), /lease\.pdf \(.*\) is not included: it is too long \(60 pages, about \d+ tokens\)/);
  assert.deepEqual(toolNames(last).sort(), ['ask', 'plan', 'read_document', 'search_documents']);
  const results: Json[] = last.messages.filter(({ role }: Json) => role === 'tool').map(({ content }: Json) => content);
  const [question, words] = results.map((result) => (result.startsWith('{') ? JSON.parse(result) : undefined));
  for (const found of [question, words]) {
    const { snippet, ...first } = found.results[0];
    assert.deepEqual(first, { id: long, file: 'lease.pdf', page: 42, label: 'page 42', cite: '[lease.pdf, page 42]' });
    assert.match(snippet, /deposit for the garage is 480 Euro/);
  }
  assert.match(results[2], /"page":42,"of":60,.*480 Euro/);
  assert.match(results[3], /There is no page 99: the file has 60/);
});

test('search finds nothing in files of other conversations', async () => {
  const { searchDocuments } = await import('../../src/documents/document-search.ts');
  const { getNamespace } = await import('../../src/artifacts/namespaces.ts');
  const { kysely } = app.service.deps.db;
  const [mine, other] = [await createChat(user), await createChat(user)];
  const id = await store({ chatId: mine }, 'a.docx', makeDocx(paragraph('Quokka habitat')));
  await textOf({ chatId: mine, id });
  const find = async (chatId: string, query: string) =>
    searchDocuments(kysely, [await getNamespace(kysely, { userId: user.id }, { chatId })], query, 5);
  assert.deepEqual(
    (await find(mine, 'habitat of the quokka')).map((match) => match.id),
    [id],
  );
  assert.deepEqual(await find(other, 'quokka'), []);
  for (const odd of ["'", '!', ':*', "a' | 'b", '\\', '« »', '日本', 'x'.repeat(500)]) await find(mine, odd);
});

test('reads equal contents once, and deletes their text with the last file', async () => {
  const [one, two] = [await createChat(user), await createChat(user)];
  const bytes = makeDocx(paragraph(`Shared ${nextId('text')}`));
  const first = await store({ chatId: one }, 'a.docx', bytes);
  const second = await store({ chatId: two }, 'b.docx', bytes);
  const scopes = [
    { chatId: one, id: first },
    { chatId: two, id: second },
    { chatId: one, id: first },
  ];
  const texts = await Promise.all(scopes.map((scope) => textOf(scope)));
  assert.ok(texts.every(({ state }) => state === 'ready'));
  const { pool } = app.service.deps.db;
  const sha256 = (await pool.query('select sha256 from artifacts where id = $1', [first])).rows[0].sha256;
  const count = async (table: string) =>
    Number((await pool.query(`select count(*) from ${table} where sha256 = $1`, [sha256])).rows[0].count);
  const attempts = await pool.query('select attempts from documents where sha256 = $1', [sha256]);
  assert.deepEqual(attempts.rows, [{ attempts: 1 }]);
  await user.call('DELETE /api/artifacts', undefined, { query: { chatId: one, id: first } });
  assert.equal(await count('document_chunks'), 1);
  await user.call('DELETE /api/artifacts', undefined, { query: { chatId: two, id: second } });
  await sweepBlobs(app.service.deps, 3_600_000);
  assert.deepEqual([await count('documents'), await count('document_chunks')], [0, 0]);
});

test('a file whose reader died is read by the next one, and one that keeps killing it is left unread', async () => {
  const { claimDocument, findDocuments, saveDocument } = await import('../../src/documents/document-store.ts');
  const { deps } = app.service;
  const { pool, kysely } = deps.db;
  const chatId = await createChat(user);
  const id = await store({ chatId }, 'a.docx', makeDocx(paragraph(nextId('dead'))));
  const sha256: string = (await pool.query('select sha256 from artifacts where id = $1', [id])).rows[0].sha256;
  const expire = () =>
    pool.query("update documents set claimed_until = now() - interval '1 second' where sha256 = $1", [sha256]);
  const lost = await claimDocument(kysely, sha256);
  assert.equal(await claimDocument(kysely, sha256), undefined, 'somebody has it');
  await expire();
  const taken = await claimDocument(kysely, sha256);
  assert.ok(lost !== undefined && taken !== undefined && lost !== taken);
  const document = { kind: 'docx' as const, warnings: [], tokens: 1, pages: [] };
  assert.equal(await saveDocument(deps, { sha256, claim: lost }, document), false, 'what comes too late is nothing');
  await expire();
  assert.equal(await claimDocument(kysely, sha256), undefined, 'one more attempt after a crash, and no other');
  assert.equal((await findDocuments(kysely, [sha256])).get(sha256)?.state, 'failed');
});

test('tries a file that took too long again later, but not a damaged one', async () => {
  const { claimDocument, failDocument, findDocuments } = await import('../../src/documents/document-store.ts');
  const { pool, kysely } = app.service.deps.db;
  const chatId = await createChat(user);
  const states = async (code: 'too_slow' | 'damaged') => {
    const id = await store({ chatId }, 'a.docx', makeDocx(paragraph(nextId(code))));
    const sha256: string = (await pool.query('select sha256 from artifacts where id = $1', [id])).rows[0].sha256;
    const claim = (await claimDocument(kysely, sha256)) ?? assert.fail('somebody else has it');
    await failDocument(kysely, { sha256, claim }, { code, message: 'No.' });
    const now = (await findDocuments(kysely, [sha256])).get(sha256)?.state;
    await pool.query("update documents set claimed_until = claimed_until - interval '1 day' where sha256 = $1", [
      sha256,
    ]);
    const later = (await findDocuments(kysely, [sha256])).get(sha256)?.state;
    return [now, later, (await claimDocument(kysely, sha256)) !== undefined];
  };
  assert.deepEqual(await states('too_slow'), ['failed', undefined, true]);
  assert.deepEqual(await states('damaged'), ['failed', 'failed', false]);
});
