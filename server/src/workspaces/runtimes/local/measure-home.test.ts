import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { measureHome } from './measure-home.ts';

const megabyte = 1_000_000;
let home: string;
before(() => {
  home = mkdtempSync(join(tmpdir(), 'homeport-measure-'));
});
after(() => rmSync(home, { recursive: true, force: true }));

test('counts blocks, not sizes', async () => {
  writeFileSync(join(home, 'whole'), Buffer.alloc(5 * megabyte, 1));
  writeFileSync(join(home, 'sparse'), '');
  truncateSync(join(home, 'sparse'), 5_000 * megabyte);
  const measured = await measureHome(home, undefined);
  assert.ok(measured !== undefined && measured.bytes >= 5 * megabyte && measured.bytes < 6 * megabyte);
  // The folder itself is one.
  assert.equal(measured.files, 3);
});

test('counts a deleted file while a process has it open', { skip: process.platform !== 'linux' }, async () => {
  const holds = `const fs = require('node:fs'); const path = process.argv[1]; const fd = fs.openSync(path, 'w');
    fs.writeSync(fd, Buffer.alloc(${40 * megabyte}, 1)); fs.unlinkSync(path); console.log('held'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['-e', holds, join(home, 'gone')], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(child.stdout, 'data');
    const [seen, unseen] = [await measureHome(home, child.pid), await measureHome(home, undefined)];
    assert.ok((seen?.bytes ?? 0) >= 45 * megabyte, `${seen?.bytes} with what is open`);
    assert.ok((unseen?.bytes ?? 0) < 6 * megabyte, `${unseen?.bytes} by names`);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
});
