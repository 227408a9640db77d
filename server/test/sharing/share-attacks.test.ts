import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { makeChat } from '../conversations/conversation-makers.ts';
import { addMessage, allowSharing, makeFullChat, makeShare, marks, textOnly } from './share-makers.ts';

/** Attacks on the public side of a share: each is refused, and no answer has a byte that the owner left out. */

let app: TestApp;
let webFolder: string;
let owner: SignedIn;
let shared: Awaited<ReturnType<typeof makeFullChat>>;
let made: Awaited<ReturnType<typeof makeShare>>;
before(async () => {
  webFolder = await mkdtemp(join(tmpdir(), 'homeport-web-'));
  await writeFile(join(webFolder, 'index.html'), '<!doctype html><title>Page</title>');
  app = await startTestApp({ webFolder });
  await allowSharing(app, 'public');
  owner = await app.signIn({ name: 'MARK-OWNER' });
  shared = await makeFullChat(app, owner);
  const body = { chatId: shared.chatId, leafMessageId: shared.answer, audience: 'link' };
  made = await makeShare(owner, { ...body, include: { ...textOnly, files: true } });
});
after(async () => {
  await app.stop();
  await rm(webFolder, { recursive: true });
});

const leftOut = () => [
  ...[marks.reasoning, marks.toolInput, marks.toolOutput, marks.other, marks.notice, marks.instructions],
  ...['MARK-OWNER', owner.id, owner.email, shared.chatId, shared.fileId, shared.answer],
];

test('a token that is guessed, cut, lengthened or changed answers like any unknown one', async () => {
  const { token } = made;
  const guesses = [
    randomBytes(32).toString('base64url'),
    token.slice(0, -1),
    `${token}A`,
    token.toUpperCase(),
    token.toLowerCase(),
    `${token} `,
    `${token}%00`,
    `${token}/`,
    '%',
    '_',
    "' or 1=1 --",
    made.share.id,
    shared.chatId,
    '../shares',
  ];
  const bodies = new Set<string>();
  for (const guess of guesses) {
    if (guess === token) continue;
    const { status, body } = await app.anonymous.call('POST /api/shares/open', { token: guess });
    assert.equal(status, 404, guess);
    bodies.add(JSON.stringify({ ...body.error, requestId: '' }));
    const file = await fetch(`${app.url}/s/${encodeURIComponent(guess)}/files/0`);
    assert.equal(file.status, 404, guess);
    const page = await fetch(`${app.url}/s/${encodeURIComponent(guess)}`);
    assert.equal(page.status, 404, guess);
    await page.arrayBuffer();
  }
  assert.equal(bodies.size, 1);
});

test('no query, header or body of a reader brings a left-out part', async () => {
  const { token } = made;
  const bodies = [
    { token, include: { reasoning: true, tools: true, files: true, author: true } },
    { token, leafMessageId: shared.answer, chatId: shared.chatId },
    { token, confirmSecrets: true, audience: 'link', expand: '*', fields: ['parts'] },
    { token, __proto__: { include: { tools: true } } },
    { token, password: 'anything at all' },
  ];
  for (const body of bodies) {
    const { status, text } = await app.anonymous.call('POST /api/shares/open', body);
    assert.equal(status, 200);
    for (const mark of leftOut()) assert.ok(!text.includes(mark), mark);
  }
  const page = await fetch(`${app.url}/s/${token}?include=tools`);
  const text = await page.text();
  for (const mark of [...leftOut(), marks.answer]) assert.ok(!text.includes(mark), mark);
});

test('neither other endpoints nor other methods open with the token of a share', async () => {
  const { token } = made;
  const tries: [string, string][] = [
    ['GET', `/api/chats?id=${shared.chatId}`],
    ['GET', `/api/shares?token=${token}`],
    ['GET', `/api/chats/export?id=${shared.chatId}&format=json&token=${token}`],
    ['GET', `/api/artifacts/download?chatId=${shared.chatId}&id=${shared.fileId}&token=${token}`],
    ['POST', '/api/shares/copy'],
    ['DELETE', `/api/shares?id=${made.share.id}`],
    ['POST', `/s/${token}/files/0`],
    ['PUT', `/s/${token}/files/0`],
    ['DELETE', `/s/${token}/files/0`],
  ];
  for (const [method, path] of tries) {
    const authorization = `Bearer ${token}`;
    const answer = await fetch(app.url + path, { method, headers: { authorization } });
    assert.ok(answer.status >= 401 && answer.status <= 405, `${method} ${path}: ${answer.status}`);
    await answer.arrayBuffer();
  }
});

test('a file path leaves neither the share nor its folder', async () => {
  const paths = [
    '1',
    '0/',
    '0/../1',
    '%252e%252e',
    '..%2f..%2fapi%2fme',
    '0%00',
    '0;1',
    '0.5',
    '0x0',
    '+0',
    'NaN',
    '1e0',
  ];
  for (const path of paths) {
    const answer = await fetch(`${app.url}/s/${made.token}/files/${path}`);
    const text = await answer.text();
    assert.ok(answer.status === 404 || answer.status === 400, `${path}: ${answer.status}`);
    assert.ok(!text.includes(marks.file), path);
  }
});

test('a signature of one file, share or time opens no other', async () => {
  const chat = { chatId: shared.chatId, leafMessageId: shared.answer, include: { ...textOnly, files: true } };
  const reader = await app.signIn();
  const first = await makeShare(owner, { ...chat, audience: 'signed_in' });
  const second = await makeShare(owner, { ...chat, audience: 'signed_in' });
  const opened = await reader.call('POST /api/shares/open', { token: first.token });
  const { url } = opened.body.files[0];
  assert.equal((await fetch(app.url + url)).status, 200);
  const { searchParams } = new URL(url, app.url);
  const later = String(Number(searchParams.get('expires')) + 1);
  const forged = [
    url.replace(first.token, second.token),
    url.replace(searchParams.get('expires'), later),
    url.replace(searchParams.get('expires'), '9999999999999'),
    url.replace(/signature=.*/, 'signature='),
    url.replace(/&signature=.*/, ''),
  ];
  for (const address of forged) assert.equal((await fetch(app.url + address)).status, 401, address);
});

test('the page cannot be framed, is not indexed, and sets no cookie', async () => {
  for (const [token, status] of [
    [made.token, 200],
    ['unknown', 404],
  ] as const) {
    const { headers, status: found } = await fetch(`${app.url}/s/${token}`);
    assert.equal(found, status);
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.match(policy, /connect-src 'self'/);
    assert.doesNotMatch(policy, /script-src[^;]*unsafe/);
    assert.match(headers.get('x-robots-tag') ?? '', /noindex/);
    assert.equal(headers.get('x-frame-options'), 'DENY');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('set-cookie'), null);
  }
});

test('markup and scripts in messages, titles and names stay text in JSON', async () => {
  const script = '</script><script>alert(1)</script>';
  const chatId = await makeChat(app.database.database, owner.id, script);
  const parts = [
    { type: 'text', text: script },
    { type: 'file', mediaType: 'text/html', filename: script, url: 'javascript:alert(1)' },
    { type: 'source-url', sourceId: 's', url: 'javascript:alert(1)', title: script },
  ];
  const leafMessageId = await addMessage(app, chatId, null, 'user', parts);
  const { token } = await makeShare(owner, { chatId, leafMessageId, audience: 'link', include: textOnly });
  const { body, text, headers } = await app.anonymous.call('POST /api/shares/open', { token });
  assert.match(headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(body.share.title, script);
  assert.equal(body.messages[0].parts.length, 1);
  assert.ok(!text.includes('javascript:'));
  assert.ok(!(await (await fetch(`${app.url}/s/${token}`)).text()).includes('alert(1)'));
});

test('a foreign page cannot read a share with the session of a reader', async () => {
  const { token } = await makeShare(owner, {
    chatId: shared.chatId,
    leafMessageId: shared.answer,
    audience: 'signed_in',
  });
  const reader = await app.signIn();
  const headers = { origin: 'https://evil.example.org' };
  const answer = await reader.call('POST /api/shares/open', { token }, { headers });
  assert.equal(answer.body.error.code, 'origin_not_allowed');
  assert.equal(answer.headers.get('access-control-allow-origin'), null);
});
