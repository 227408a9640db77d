import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const unit = readFileSync(join(import.meta.dirname, '../../deploy/homeport.service'), 'utf8');
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test('the unit starts with the machine and allows a stop its time', () => {
  assert.match(unit, /^\[Install\]\nWantedBy=multi-user\.target$/m);
  assert.match(unit, /^KillMode=mixed$/m);
  assert.match(unit, /^TimeoutStopSec=45$/m);
  assert.match(unit, /--env-file=\/etc\/homeport\/homeport\.env /);
});

test('systemd finds no fault in the unit', {
  skip: !hasSystemd && 'systemd-analyze is not installed',
  timeout: 180_000,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-unit-'));
  const file = join(folder, 'homeport.service');
  // This user exists everywhere, and so does the program.
  const here = unit
    .replace('/opt/homeport/node_modules/node/bin/node', process.execPath)
    .replace('User=homeport', 'User=root');
  writeFileSync(file, here.replaceAll('/opt/homeport', folder));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
  // systemd's exposure score from 0 to 10; the file before had 6.3.
  const security = spawnSync('systemd-analyze', ['security', '--offline=yes', '--threshold=40', file], {
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  assert.equal(status, 0, stdout + stderr);
  assert.equal(security.status, 0, security.stdout.split('\n').slice(-3).join('\n'));
  assert.doesNotMatch(stderr, /homeport\.service:\d+:/);
});
