import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { workspaceNotes } from '@homeport/contracts/workspace/daemon';
import { type RunningDaemon, startDaemon } from './running-daemon.ts';

let daemon: RunningDaemon;
before(async () => {
  daemon = await startDaemon();
});
after(() => daemon.stop());

test('lists the programs and Python modules found, including those installed into the home', async () => {
  const notes = async () => workspaceNotes.parse(JSON.parse((await daemon.call('/v1/notes')).text));
  const before = await notes();
  for (const name of ['typst', 'soffice']) assert.ok(!before.programs.includes(name), `${name} is on this machine`);
  const bin = join(daemon.home, '.local/bin');
  const packages = join(daemon.home, '.local/lib/python3.99/site-packages');
  mkdirSync(bin, { recursive: true });
  mkdirSync(join(packages, 'seaborn'), { recursive: true });
  for (const name of ['typst', 'python3']) writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(bin, 'soffice'), 'not executable', { mode: 0o644 });
  const { programs, pythonModules } = await notes();
  assert.ok(programs.includes('typst') && programs.includes('python3') && !programs.includes('soffice'));
  assert.ok(pythonModules?.includes('seaborn'), String(pythonModules));
  assert.ok(!pythonModules?.includes('polars'));
});
