import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../contracts/test/until.ts';
import { countProcesses, type RunningDaemon, startDaemon } from './running-daemon.ts';

/** In the daemon, a minute is 10 milliseconds, and the clock advances by the number of minutes in a file. */
const moved = `
import { readFileSync } from 'node:fs';
const now = performance.now.bind(performance);
const minutes = () => { try { return Number(readFileSync(process.env.HOMEPORT_HOME + '/minutes', 'utf8')); } catch { return 0; } };
performance.now = () => now() + 60000 * minutes();
const every = globalThis.setInterval;
globalThis.setInterval = (work, ms, ...rest) => every(work, ms === 60000 ? 10 : ms, ...rest);
`;

let daemon: RunningDaemon;
before(async () => {
  daemon = await startDaemon({ NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(moved)}` });
});
after(() => daemon.stop());

const pass = (minutes: number) => writeFileSync(join(daemon.home, 'minutes'), String(minutes));

test('ends the daemon and its processes when the control plane is gone', { timeout: 300_000 }, async () => {
  const marker = `silence-${process.pid}`;
  const command = daemon.exec({ id: 'kept', command: `exec -a ${marker} sleep 1000`, background: true });
  await command.next((event) => event.type === 'start');
  await until(() => countProcesses(marker) > 0);
  pass(29);
  // A request from the control plane counts, anybody else's does not.
  assert.equal((await daemon.call('/v1/health')).status, 200);
  pass(58);
  assert.equal((await daemon.call('/v1/processes')).status, 200);
  pass(80);
  assert.equal((await daemon.call('/v1/health', { token: '' })).status, 200);
  assert.equal(daemon.child.exitCode, null);
  pass(89);
  await until(() => daemon.child.exitCode !== null);
  assert.equal(daemon.child.exitCode, 0);
  await until(() => countProcesses(marker) === 0);
});
