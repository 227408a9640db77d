import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { spaceOf } from '../../src/daemon/space/home-space.ts';
import { startFiles } from './files-harness.ts';

const mebibyte = 1024 ** 2;
let files: Awaited<ReturnType<typeof startFiles>>;
before(async () => {
  files = await startFiles('home', { bytes: 4 * mebibyte, files: 40 });
  writeFileSync(join(files.home, 'old'), Buffer.alloc(2 * mebibyte, 1));
});
after(() => files.stop());

const bytes = (count: number) => Buffer.alloc(count * mebibyte, 1);

test('refuses a file above the limit with the numbers, with or without an announced size', async () => {
  const announced = await files.put('~/new', bytes(3));
  assert.deepEqual([announced.status, announced.body.error.code], [507, 'storage_full']);
  assert.match(announced.body.error.message, /no room for this file: 2\.\d MiB of 4\.0 MiB are used/);
  const streamed = await files.put('~/new', Readable.from([bytes(1), bytes(1), bytes(1)]));
  assert.deepEqual([streamed.status, streamed.body.error.code], [507, 'storage_full']);
  assert.equal((await files.put('~/new', bytes(1))).status, 201);
});

test('counts no space for refused files and frees that of deleted ones at once', async () => {
  assert.equal((await files.put('~/third', bytes(2))).status, 507);
  rmSync(join(files.home, 'old'));
  assert.equal((await files.put('~/third', bytes(2))).status, 201);
});

test('refuses another file above the limit on files', async () => {
  const space = spaceOf(files.daemon);
  await space.look();
  for (let number = space.used.files; number < 40; number += 1) writeFileSync(join(files.home, `n${number}`), '');
  await space.look();
  const { status, body } = await files.put('~/one-more', 'small');
  assert.deepEqual([status, body.error?.code], [507, 'storage_full']);
  assert.match(body.error.message, /40 of 40 files exist/);
});
