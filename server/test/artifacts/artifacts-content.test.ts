import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { readContent } from '../../src/artifacts/contents.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat, put, upload } from './artifact-makers.ts';

/** Serving users' files: in full, in ranges and as previews, never as a page of our origin. */

let app: TestApp;
let user: SignedIn;
let chatId: string;
before(async () => {
  app = await startTestApp({ config: { artifactMaxUploadBytes: 8 * 1024 * 1024 } });
  user = await app.signIn();
  chatId = await createChat(user);
});
after(() => app.stop());

const read = (kind: 'download' | 'preview', id: string, headers: Record<string, string> = {}, method = 'GET') =>
  user.fetch(`/api/artifacts/${kind}?${new URLSearchParams({ chatId, id })}`, { method, headers });

const json = async (response: Response): Promise<Json> => response.json();

async function store(name: string, bytes: string | Uint8Array, type = 'application/octet-stream'): Promise<string> {
  const answer = await upload(user, { chatId }, { name, bytes, type });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.artifact.id;
}

function assertHarmless(response: Response, disposition: RegExp): void {
  assert.match(response.headers.get('content-disposition') ?? '', disposition);
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
  assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'; sandbox/);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.match(response.headers.get('x-request-id') ?? '', /./);
}

test('downloads the bytes as an attachment', async () => {
  const bytes = randomBytes(3_000_000);
  const id = await store('große %22Datei%22.bin', bytes);
  const response = await read('download', id);
  assert.equal(response.status, 200);
  assertHarmless(
    response,
    /^attachment; filename="gro_e _Datei_\.bin"; filename\*=UTF-8''gro%C3%9Fe%20%22Datei%22\.bin$/,
  );
  const got = Buffer.from(await response.arrayBuffer());
  assert.ok(got.equals(bytes));
  assert.equal(response.headers.get('content-length'), String(bytes.length));
  assert.equal(response.headers.get('etag'), `"${createHash('sha256').update(bytes).digest('hex')}"`);
  const head = await read('download', id, {}, 'HEAD');
  assert.deepEqual([head.status, head.headers.get('content-length'), await head.text()], [200, '3000000', '']);
});

test('a range request returns exactly its bytes', async () => {
  const id = await store('digits.txt', '0123456789');
  const tag = (await read('download', id)).headers.get('etag') ?? '';
  const cases: [headers: Record<string, string>, status: number, text: string, range: string | null][] = [
    [{ range: 'bytes=0-0' }, 206, '0', 'bytes 0-0/10'],
    [{ range: 'bytes=3-' }, 206, '3456789', 'bytes 3-9/10'],
    [{ range: 'bytes=-4' }, 206, '6789', 'bytes 6-9/10'],
    [{ range: 'bytes=5-99' }, 206, '56789', 'bytes 5-9/10'],
    [{ range: 'bytes=0-1,5-6' }, 200, '0123456789', null],
    [{ range: 'bytes=7-2' }, 200, '0123456789', null],
    [{ range: 'bytes=1-2', 'if-range': tag }, 206, '12', 'bytes 1-2/10'],
    [{ range: 'bytes=1-2', 'if-range': '"other"' }, 200, '0123456789', null],
    [{ 'if-none-match': `"x", W/${tag}` }, 304, '', null],
    [{ 'if-none-match': '"x"' }, 200, '0123456789', null],
  ];
  for (const [headers, status, text, range] of cases) {
    const response = await read('download', id, headers);
    assert.deepEqual(
      [response.status, await response.text(), response.headers.get('content-range')],
      [status, text, range],
      JSON.stringify(headers),
    );
  }
  const beyond = await read('download', id, { range: 'bytes=10-' });
  assert.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, 'bytes */10']);
  assert.equal((await json(beyond)).error.code, 'invalid_request');
  const empty = await store('empty', '');
  assert.deepEqual([(await read('download', empty)).status, await (await read('download', empty)).text()], [200, '']);
  assert.equal((await read('download', empty, { range: 'bytes=0-' })).status, 416);
});

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const script = '<script>alert(1)</script>';
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">${script}</svg>`;

test('previews a file by its content, not by its declared type', async () => {
  const cases: [name: string, claimed: string, bytes: string | Uint8Array, shown: string | undefined][] = [
    ['a.txt', 'text/plain', 'text', 'text/plain; charset=utf-8'],
    ['a.md', 'text/markdown', '# Title', 'text/plain; charset=utf-8'],
    ['a.html', 'text/html', script, 'text/plain; charset=utf-8'],
    ['a.html', 'text/html;charset=utf-7', script, 'text/plain; charset=utf-8'],
    ['a.svg', 'image/svg+xml', svg, 'text/plain; charset=utf-8'],
    [
      'a.xhtml',
      'application/xhtml+xml',
      `<html xmlns="http://www.w3.org/1999/xhtml">${script}</html>`,
      'text/plain; charset=utf-8',
    ],
    ['a.csv', 'text/csv', 'a,b\n1,2\n', 'text/csv; charset=utf-8'],
    ['a.png', 'text/html', png, 'image/png'],
    ['a.jpg', 'image/jpeg', Buffer.from('ffd8ffe000104a46', 'hex'), 'image/jpeg'],
    ['a.gif', 'image/gif', 'GIF89a/*<script>*/', 'image/gif'],
    ['a.webp', 'image/webp', 'RIFF\u0001\u0001\u0001\u0001WEBPVP8 ', 'image/webp'],
    ['a.pdf', 'application/pdf', '%PDF-1.7\n', 'application/pdf'],
    ['fake.png', 'image/png', script, 'text/plain; charset=utf-8'],
    ['a.zip', 'application/zip', Buffer.from('504b0304ff00', 'hex'), undefined],
    ['latin1.txt', 'text/plain', Buffer.from([0x66, 0xfc, 0x72]), undefined],
    ['empty', 'text/plain', '', 'text/plain; charset=utf-8'],
  ];
  for (const [name, claimed, bytes, shown] of cases) {
    const id = await store(name, bytes, claimed);
    const response = await read('preview', id);
    if (shown === undefined) {
      assert.equal((await json(response)).error.code, 'unsupported_media_type', name);
    } else {
      assert.equal(response.headers.get('content-type'), shown, `${name} as ${claimed}`);
      assertHarmless(response, /^inline; filename=/);
      assert.ok(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(bytes)), name);
    }
    const download = await read('download', id);
    assertHarmless(download, /^attachment; /);
    await download.body?.cancel();
  }
});

test('a preview of a long text ends within 256 KiB, between two characters', async () => {
  for (const shift of [0, 1, 2, 3]) {
    const text = 'x'.repeat(shift) + '🙂'.repeat(70_000);
    const id = await store('long.txt', text);
    const response = await read('preview', id);
    assert.equal(response.headers.get('x-preview-truncated'), 'true');
    const shown = await response.text();
    assert.ok(text.startsWith(shown) && !shown.includes('\ufffd'));
    assert.ok(Buffer.byteLength(shown) > 256 * 1024 - 4 && Buffer.byteLength(shown) <= 256 * 1024);
  }
});

test('missing and foreign files get the same answer, by id and by path', async () => {
  const stranger = await app.signIn();
  const theirs = await createChat(stranger);
  const foreign = await put(stranger, { chatId: theirs }, 'secret.txt');
  for (const kind of ['stat', 'preview', 'download']) {
    const queries: Record<string, string>[] = [
      { chatId, id: foreign.id },
      { chatId, id: 'missing' },
      { chatId, path: 'secret.txt' },
    ];
    const answers = await Promise.all(
      queries.map((query) => user.call(`GET /api/artifacts/${kind}`, undefined, { query })),
    );
    for (const { status, body } of answers) {
      assert.deepEqual([status, body.error.code, body.error.message], [404, 'not_found', 'Artifact not found']);
    }
    const { body } = await user.call(`GET /api/artifacts/${kind}`, undefined, {
      query: { chatId: theirs, id: foreign.id },
    });
    assert.equal(body.error.message, 'Conversation not found');
  }
});

test('uses the declared media type or that of the name, and never adds a header', async () => {
  const typeOf = async (name: string, type: string) =>
    (await upload(user, { chatId }, { name, type, bytes: 'x' })).body.artifact.mediaType;
  assert.equal(await typeOf('a.csv', 'application/octet-stream'), 'text/csv');
  assert.equal(await typeOf('a.csv', 'Text/Plain; charset=utf-8'), 'text/plain');
  assert.equal(await typeOf('a.unknown-kind', 'application/octet-stream'), 'application/octet-stream');
  assert.equal(await typeOf('a.json', 'not a type'), 'application/json');
});

test('answers 404 for an artifact that is deleted while its bytes are being fetched', async () => {
  const id = await store('fleeting.txt', 'gone in a moment');
  const { deps } = app.service;
  const scope = new URLSearchParams({ chatId, id });
  const row = { sha256: createHash('sha256').update('gone in a moment').digest('hex') };
  const { artifactStore } = deps;
  const readStored = artifactStore.read;
  artifactStore.read = async (...given) => {
    artifactStore.read = readStored;
    assert.equal((await user.fetch(`/api/artifacts?${scope}`, { method: 'DELETE' })).status, 200);
    return readStored.apply(artifactStore, given);
  };
  const answer = await read('download', id);
  assert.deepEqual([answer.status, (await json(answer)).error.code], [404, 'not_found']);
  const later = await readContent(deps, row, { start: 0, end: 3 }, async () => undefined).catch((error) => error);
  assert.equal(later.code, 'not_found');
});
