import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { markName } from '../../src/artifacts/blob-store.ts';
import { sweepBlobs } from '../../src/artifacts/blobs.ts';
import { createS3Store } from '../../src/artifacts/stores/s3.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { type S3Server, s3Credentials, startS3Server } from '../fakes/s3-server.ts';
import { createChat, formBody, paths, put, upload } from './artifact-makers.ts';

/** The file store in a bucket, against an S3-compatible server. */

let s3: S3Server;
let app: TestApp;
let user: SignedIn;
const lines: string[] = [];
before(async () => {
  s3 = await startS3Server();
  app = await startTestApp({
    config: {
      artifactStore: `s3://${s3.bucket}/some/folder`,
      awsEndpoint: s3.url,
      ...s3Credentials,
      artifactMaxUploadBytes: 40 * 1024 * 1024,
    },
    log: (line) => lines.push(line),
  });
  user = await app.signIn();
});
after(async () => {
  await app.stop();
  await s3.close();
});

/** Objects that are there as a whole. */
const objects = () =>
  readdirSync(s3.folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('_object') && !name.includes(markName))
    .sort();

test('stores files in one request and in many parts, reads them in ranges, and deletes them', async () => {
  const chatId = await createChat(user);
  const present = objects().length;
  for (const size of [0, 5, 8 * 1024 * 1024, 20 * 1024 * 1024 + 7]) {
    const bytes = randomBytes(size);
    const { status, body, text } = await upload(user, { chatId }, { name: `${size}.bin`, bytes });
    assert.equal(status, 201, text);
    const query = new URLSearchParams({ chatId, id: body.artifact.id });
    const whole = await user.fetch(`/api/artifacts/download?${query}`);
    assert.ok(Buffer.from(await whole.arrayBuffer()).equals(bytes), String(size));
    if (size > 100) {
      const headers = { range: `bytes=${size - 50}-${size - 11}` };
      const part = await user.fetch(`/api/artifacts/download?${query}`, { headers });
      assert.equal(part.status, 206);
      assert.ok(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(size - 50, size - 10)));
    }
  }
  assert.equal(objects().length, present + 4);
  assert.ok(objects().every((name) => name.includes('some/folder/')));
  await user.call('DELETE /api/artifacts', undefined, { query: { chatId, path: '5.bin' } });
  assert.equal(objects().length, present + 3);
});

test('an interrupted upload leaves no object', async () => {
  const chatId = await createChat(user);
  const present = objects();
  const { body, contentType } = formBody([
    { name: 'chatId', value: chatId },
    { name: 'file', value: randomBytes(20 * 1024 * 1024), filename: 'cut.bin' },
  ]);
  const head = [
    'POST /api/artifacts HTTP/1.1',
    'host: localhost',
    `cookie: ${user.cookie}`,
    `content-type: ${contentType}`,
    `content-length: ${body.length}`,
    '\r\n',
  ].join('\r\n');
  const cuts = [100_000, 9_000_000, 18_000_000, body.length - 1];
  const answered = () => lines.filter((line) => line.includes('"path":"/api/artifacts"')).length;
  const before = answered();
  for (const cut of cuts) {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(new URL(app.url).port), '127.0.0.1', () => {
        socket.write(Buffer.concat([Buffer.from(head), body.subarray(0, cut)]), () => socket.destroy());
      });
      socket.on('error', () => resolve()).on('close', () => resolve());
    });
  }
  await until('the server is done with them', async () => answered() === before + cuts.length);
  const file = { chatId, path: 'whole.txt' };
  assert.equal((await upload(user, file, { bytes: randomUUID() })).status, 201);
  assert.deepEqual(await paths(user, { chatId }), ['whole.txt']);
  // The last object was complete, and is deleted by another request to the bucket.
  await until('what was cut is gone', async () => objects().length === present.length + 1);
});

test('the sweep finds objects without a row and leaves the others', async () => {
  const { deps } = app.service;
  const chatId = await createChat(user);
  await put(user, { chatId }, 'kept.txt', randomUUID());
  const { key } = await deps.artifactStore.put(Readable.from([Buffer.from(randomUUID())]));
  // By name, not by count: the remains of an interrupted upload can still be deleted now.
  const isThere = () => objects().some((name) => name.includes(key));
  assert.equal(await sweepBlobs(deps, 3_600_000), 0, 'it is too young');
  assert.equal(isThere(), true);
  assert.ok((await sweepBlobs(deps, -3_600_000)) >= 1);
  assert.equal(isThere(), false);
  assert.equal((await user.fetch(`/api/artifacts/download?chatId=${chatId}&path=kept.txt`)).status, 200);
});

test('reports a missing bucket at the start, and a wrong key with the first file', async () => {
  const settings = {
    bucket: s3.bucket,
    prefix: '',
    region: 'us-east-1',
    endpoint: s3.url,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  };
  const prepare = async (change: Partial<typeof settings>) => {
    const store = createS3Store({ ...settings, ...change });
    await store.prepare().finally(() => store.close());
  };
  await prepare({});
  await assert.rejects(prepare({ bucket: 'missing' }));
  const wrong = createS3Store({ ...settings, credentials: { accessKeyId: 'unknown', secretAccessKey: 'wrong' } });
  await assert.rejects(wrong.put(Readable.from([Buffer.from('x')])));
  wrong.close();
});
