import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { attachedTextMax } from '../../src/artifacts/attachments.ts';
import { pictureMax } from '../../src/artifacts/pictures/pictures.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { addModels, createChat, nextId, postChat, readStream } from '../chat/chat-harness.ts';
import { makePdf } from '../documents/document-makers.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { makeProject, put, upload } from './artifact-makers.ts';

/** Files attached to a message, as models receive them. */

let app: TestApp;
let provider: FakeProvider;
let user: SignedIn;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ config: { artifactMaxUploadBytes: 8 * 1024 * 1024 } });
  user = await app.signIn();
  await addModels(user, provider, ['words-3']);
});
after(async () => {
  await app.stop();
  await provider.close();
});

const fileOf = (id: string) => ({
  type: 'file',
  mediaType: 'text/plain',
  filename: 'whatever',
  url: `artifact://${id}`,
});

async function store(chatId: string, name: string, bytes: string | Uint8Array): Promise<string> {
  const answer = await upload(user, { chatId }, { name, bytes, type: 'application/octet-stream' });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.artifact.id;
}

/** Submits, awaits the response, and resolves with the messages that the model received. */
async function ask(chatId: string, parts: object[]): Promise<Json[]> {
  const message = { id: nextId('m'), parts };
  const admitted = await user.call('POST /api/chat/start', { chatId, message });
  assert.equal(admitted.status, 201, admitted.text);
  const { status } = await readStream(await postChat(user, { chatId, messageId: message.id }));
  assert.equal(status, 200);
  const last: Json = provider.requests.at(-1);
  return last.body.messages.filter(({ role }: { role: string }) => role !== 'system');
}

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

test('sends texts with their names, pictures as data, and only the names of other files', async () => {
  const chatId = await createChat(user);
  const [text, image, zip] = [
    await store(chatId, 'notes.md', '# Größe'),
    await store(chatId, 'p.png', png),
    await store(chatId, 'a.zip', Buffer.from('504b0304ff', 'hex')),
  ];
  const [sent] = await ask(chatId, [{ type: 'text', text: 'Look' }, fileOf(text), fileOf(image), fileOf(zip)]);
  assert.deepEqual(sent.content, [
    { type: 'text', text: 'Look' },
    { type: 'text', text: '[File notes.md]\n# Größe' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } },
    { type: 'text', text: '[File a.zip (application/zip) is not included: The file is damaged or was cut short.]' },
  ]);
  const [onlyText] = await ask(await createChat(user), [{ type: 'text', text: `artifact://${text}` }]);
  assert.equal(onlyText.content, `artifact://${text}`, 'what somebody types is not an attachment');
});

test('sends a photo without the place that its camera wrote into it', async () => {
  const chatId = await createChat(user);
  const place = Buffer.from('\xff\xe1\0\x15http://ns.adobe GPS', 'latin1');
  const [start, rest] = [Buffer.from('ffd8', 'hex'), Buffer.from('ffdb0004abcdffd9', 'hex')];
  const photo = await store(chatId, 'photo.jpg', Buffer.concat([start, place, rest]));
  const [sent] = await ask(chatId, [{ type: 'text', text: 'Where is it?' }, fileOf(photo)]);
  const url = `data:image/jpeg;base64,${Buffer.concat([start, rest]).toString('base64')}`;
  assert.deepEqual(sent.content[1], { type: 'image_url', image_url: { url } });
});

test('never sends the source of a PDF as text, even if it is plain text', async () => {
  const chatId = await createChat(user);
  const pdf = await store(chatId, 'plain.pdf', '%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n');
  const [sent] = await ask(chatId, [{ type: 'text', text: 'Read it' }, fileOf(pdf)]);
  assert.doesNotMatch(JSON.stringify(sent.content), /Catalog/);
  assert.match(JSON.stringify(sent.content), /File plain.pdf \(application\/pdf\) is not included/);
});

test('sends a scanned PDF unchanged to models that read its pages, and to no others', async () => {
  const scan = makePdf(['']);
  const data = scan.toString('base64');
  const sent: unknown[] = [];
  for (const kind of ['anthropic', 'openai'] as const) {
    const reader = await app.signIn();
    await addModels(reader, provider, ['words-3'], kind);
    const chatId = await createChat(reader);
    const { body } = await upload(reader, { chatId }, { name: 'scan.pdf', bytes: scan, type: 'application/pdf' });
    const message = { id: nextId('m'), parts: [{ type: 'text', text: 'Read' }, fileOf(body.artifact.id)] };
    await reader.call('POST /api/chat/start', { chatId, message });
    await readStream(await postChat(reader, { chatId, messageId: message.id }));
    sent.push(JSON.stringify(provider.requests.at(-1)?.raw.messages));
  }
  const [native, plain] = sent.map(String);
  const source = { type: 'base64', media_type: 'application/pdf', data };
  assert.ok(native?.includes(JSON.stringify({ type: 'document', source, title: 'scan.pdf' }).slice(0, -1)), native);
  assert.match(plain ?? '', /File scan.pdf \(application\/pdf\) is not included/);
});

test('later turns see the current state of a file: moved, replaced or deleted', async () => {
  const chatId = await createChat(user);
  const { id } = await put(user, { chatId }, 'a.txt', 'one');
  const say = async (text: string) => (await ask(chatId, [{ type: 'text', text }]))[0].content;
  await ask(chatId, [{ type: 'text', text: 'Read' }, fileOf(id)]);
  await user.call('PATCH /api/artifacts', { chatId, id, to: 'b/c.txt' });
  assert.equal(await say('and'), 'Read\n\n[File c.txt]\none');
  await upload(user, { chatId, path: 'b/c.txt', onConflict: 'replace' }, { bytes: 'two' });
  assert.equal(await say('and'), 'Read\n\n[File c.txt]\ntwo');
  await user.call('DELETE /api/artifacts', undefined, { query: { chatId, id } });
  assert.equal(await say('and'), 'Read\n\n[A file attached here no longer exists]');
});

test('names attachments that are too large to include', async () => {
  const chatId = await createChat(user);
  const long = await store(chatId, 'long.txt', 'x'.repeat(attachedTextMax + 1));
  const big = await store(chatId, 'big.png', Buffer.concat([png, Buffer.alloc(pictureMax)]));
  const [sent] = await ask(chatId, [fileOf(long), fileOf(big)]);
  assert.match(
    sent.content,
    new RegExp(`^\\[File long.txt \\(.*\\) is not included: it is too long.*its id is ${long}\\]`),
  );
  assert.match(sent.content, /\[File big.png \(image\/png\) is not included: it is larger than \d+ bytes\]$/);
  const many = await createChat(user);
  const half = await store(many, 'half.png', Buffer.concat([png, Buffer.alloc(pictureMax - png.length)]));
  const [crowded] = await ask(
    many,
    Array.from({ length: 6 }, () => fileOf(half)),
  );
  const kinds = crowded.content.map((part: Json) => part.type);
  assert.deepEqual(kinds, ['image_url', 'image_url', 'image_url', 'image_url', 'text', 'text']);
});

test('refuses foreign and missing files by name, but not the retry of an admitted message', async () => {
  const chatId = await createChat(user);
  const other = await app.signIn();
  const foreign = await put(other, { chatId: await createChat(other) }, 'secret.txt');
  const elsewhere = await put(user, { chatId: await createChat(user) }, 'mine.txt');
  for (const id of [foreign.id, elsewhere.id, 'missing', 'not/an id']) {
    for (const route of ['POST /api/chat/start', 'POST /api/chat/turn-inputs']) {
      const message = { id: nextId('m'), parts: [{ type: 'text', text: 'x' }, fileOf(id)] };
      const { status, body } = await user.call(route, { chatId, message });
      assert.deepEqual(
        [status, body.error.code, body.error.details[0].path],
        [404, 'not_found', 'message.parts.1.url'],
        id,
      );
    }
  }
  const { id } = await put(user, { chatId }, 'a.txt');
  const submission = { chatId, message: { id: nextId('m'), parts: [fileOf(id)] } };
  assert.equal((await user.call('POST /api/chat/start', submission)).status, 201);
  await user.call('DELETE /api/artifacts', undefined, { query: { chatId, id } });
  assert.equal((await user.call('POST /api/chat/start', submission)).status, 201);
});

test("sends a project's file for as long as the sender is a member of the project", async () => {
  const { pool } = app.database.database;
  const owner = await app.signIn();
  const projectId = await makeProject(pool, [owner.id, user.id]);
  const chatId = await createChat(user);
  await user.call('PATCH /api/chats', { id: chatId, projectId });
  const { id } = await put(owner, { projectId }, 'shared.txt', 'of us all');
  const [sent] = await ask(chatId, [fileOf(id)]);
  assert.equal(sent.content, '[File shared.txt]\nof us all');
  await pool.query('delete from project_members where user_id = $1', [user.id]);
  const [later] = await ask(chatId, [{ type: 'text', text: 'again' }]);
  assert.match(later.content, /no longer exists/);
});

test('counts tokens of files separately from messages, as of the time they were sent', async () => {
  const chatId = await createChat(user);
  const text = await store(chatId, 'long.md', 'one two three four five\n'.repeat(400));
  const image = await store(chatId, 'p.png', png);
  await ask(chatId, [{ type: 'text', text: 'Look' }, fileOf(text)]);
  await ask(chatId, [{ type: 'text', text: 'And this' }, fileOf(image)]);
  await ask(chatId, [{ type: 'text', text: 'Thanks' }]);
  const { messages: branch } = (await user.call('GET /api/chats', undefined, { query: { id: chatId } })).body;
  await user.call('DELETE /api/artifacts', undefined, { query: { chatId, id: text } });
  const query = { chatId, messageId: branch.at(-1).id };
  const { messages, tokens } = (await user.call('GET /api/chats/context', undefined, { query })).body;
  const [first, , second, , last] = messages;
  assert.ok(first.files > 1_500 && first.tokens - first.files < 20, JSON.stringify(first));
  assert.ok(second.files >= 1_000 && second.tokens - second.files < 20, JSON.stringify(second));
  assert.equal(last.files, undefined);
  assert.equal(tokens.files, first.files + second.files);
  assert.ok(tokens.messages < 100, `${tokens.messages} tokens of messages`);
});
