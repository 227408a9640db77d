import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { addModels, createChat, nextId, postChat, readStream } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { upload } from './artifact-makers.ts';
import { look, makeAvif, makeBmp, makeJpeg, makePng, makeTiff, quarters } from './picture-makers.ts';

/** Pictures attached to a message, as models receive them. */

let app: TestApp;
let provider: FakeProvider;
let user: SignedIn;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp({ config: { artifactMaxUploadBytes: 64 * 1024 * 1024 } });
  user = await app.signIn();
  await addModels(user, provider, ['words-3']);
});
after(async () => {
  await app.stop();
  await provider.close();
});

/** Sends a file; returns the picture that the model got, or the words in its place. */
async function sentOf(name: string, bytes: Buffer): Promise<{ type: string; bytes: Buffer } | string> {
  const chatId = await createChat(user);
  const stored = await upload(user, { chatId }, { name, bytes, type: 'application/octet-stream' });
  assert.equal(stored.status, 201, stored.text);
  const url = `artifact://${stored.body.artifact.id}`;
  const file = { type: 'file', mediaType: 'application/octet-stream', filename: name, url };
  const message = { id: nextId('m'), parts: [{ type: 'text', text: 'Look' }, file] };
  await user.call('POST /api/chat/start', { chatId, message });
  await readStream(await postChat(user, { chatId, messageId: message.id }));
  const last: Json = provider.requests.at(-1);
  const { content } = last.body.messages.findLast(({ role }: Json) => role === 'user');
  if (typeof content === 'string') return content;
  const [, type = '', data = ''] = /^data:([^;]+);base64,(.*)$/s.exec(content[1].image_url?.url ?? '') ?? [];
  return { type, bytes: Buffer.from(data, 'base64') };
}

async function pictureOf(name: string, bytes: Buffer): Promise<{ type: string; bytes: Buffer }> {
  const sent = await sentOf(name, bytes);
  if (typeof sent === 'string') assert.fail(sent);
  return sent;
}

const upright = ['red', 'green', 'blue', 'white'];

test('shows models a photo upright, without its place, and within the size that they take', async () => {
  const photo = await pictureOf('photo.jpg', await makeJpeg(quarters(2_400, 1_200), 6));
  assert.equal(photo.type, 'image/jpeg');
  assert.deepEqual(await look(photo.bytes), {
    width: 1_000,
    height: 2_000,
    corners: ['blue', 'red', 'white', 'green'],
  });
  assert.ok(!photo.bytes.includes('GPS'));
});

test('leaves a small upright picture as it is', async () => {
  const png = await makePng(quarters(300, 200));
  assert.deepEqual(await pictureOf('small.png', png), { type: 'image/png', bytes: png });
});

test('makes a large PNG smaller', async () => {
  const { type, bytes } = await pictureOf('large.png', await makePng(quarters(3_000, 600)));
  assert.deepEqual([type, await look(bytes)], ['image/jpeg', { width: 2_000, height: 400, corners: upright }]);
});

test('converts BMP, TIFF and AVIF to JPEG, whatever their names say', async () => {
  const pixels = quarters(64, 48);
  for (const [name, bytes] of [
    ['a.bmp', makeBmp(pixels)],
    ['a.tif', makeTiff(pixels)],
    ['a.avif', await makeAvif(pixels)],
    ['bitmap.png', makeBmp(pixels)],
  ] as const) {
    const { type, bytes: jpeg } = await pictureOf(name, bytes);
    assert.deepEqual([type, await look(jpeg)], ['image/jpeg', { width: 64, height: 48, corners: upright }], name);
  }
});

test('says what to do about HEIC pictures', async () => {
  const heic = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic\0\0\0\0', 'latin1');
  const words = 'This is a HEIC picture, which models cannot see. Save it as JPEG or PNG.';
  assert.match(String(await sentOf('photo.heic', heic)), new RegExp(words));
});

test('names hostile pictures with the reason, and reads the next one', async () => {
  const bomb = await makePng(quarters(8, 8));
  bomb.writeUInt32BE(30_000, 16);
  bomb.writeUInt32BE(30_000, 20);
  const hugeBmp = makeBmp(quarters(8, 8));
  hugeBmp.writeInt32LE(30_000, 18);
  hugeBmp.writeInt32LE(30_000, 22);
  const hugeTiff = makeTiff(quarters(8, 8));
  const width = hugeTiff.indexOf(Buffer.from('0100000300000001', 'hex'));
  hugeTiff.writeUInt16BE(30_000, width + 8);
  hugeTiff.writeUInt16BE(30_000, width + 20);
  for (const [name, bytes] of Object.entries({ 'a.png': bomb, 'a.bmp': hugeBmp, 'a.tiff': hugeTiff })) {
    assert.match(String(await sentOf(name, bytes)), /30000 × 30000 pixels. Save it with at most 2000 pixels a side/);
  }
  const avif = (await makeAvif(quarters(64, 64))).subarray(0, 300);
  for (const [name, bytes] of Object.entries({ 'b.bmp': makeBmp(quarters(64, 64)).subarray(0, 100), 'b.avif': avif })) {
    assert.match(String(await sentOf(name, bytes)), /damaged, or has an unusual format. Save it as JPEG or PNG/);
  }
  const { type } = await pictureOf('next.bmp', makeBmp(quarters(64, 48)));
  assert.equal(type, 'image/jpeg');
});
