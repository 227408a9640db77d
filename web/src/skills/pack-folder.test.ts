import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { packFolder } from './pack-folder.ts';

test('packs a folder into a valid zip archive', async () => {
  const files = [
    { path: 'skill/SKILL.md', bytes: new TextEncoder().encode('one\ntwo\n') },
    { path: 'skill/scripts/grüße.sh', bytes: new Uint8Array() },
  ];
  const zip = Buffer.from(await packFolder(files).arrayBuffer());
  const end = zip.length - 22;
  assert.equal(zip.toString('latin1', end, end + 4), 'PK\u0005\u0006');
  assert.deepEqual([zip.readUInt16LE(end + 8), zip.readUInt16LE(end + 10)], [2, 2]);
  let at = zip.readUInt32LE(end + 16);
  assert.equal(zip.readUInt32LE(end + 12), end - at);
  for (const { path, bytes } of files) {
    const name = Buffer.from(path);
    const facts = zip.subarray(at + 6, at + 32);
    assert.equal(zip.toString('latin1', at, at + 4), 'PK\u0001\u0002');
    assert.deepEqual(zip.subarray(at + 46, at + 46 + name.length), name);
    assert.deepEqual(
      [facts.readUInt32LE(10), facts.readUInt32LE(14), facts.readUInt32LE(18), facts.readUInt16LE(22)],
      [crc32(bytes), bytes.length, bytes.length, name.length],
    );
    const place = zip.readUInt32LE(at + 42);
    assert.equal(zip.toString('latin1', place, place + 4), 'PK\u0003\u0004');
    assert.deepEqual(zip.subarray(place + 4, place + 30), facts);
    assert.deepEqual(zip.subarray(place + 30, place + 30 + name.length + bytes.length), Buffer.concat([name, bytes]));
    at += 46 + name.length;
  }
  assert.equal(at, end);
});
