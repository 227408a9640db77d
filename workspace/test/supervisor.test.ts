import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { until } from '../../contracts/test/until.ts';
import { startSupervised } from '../src/daemon/exec/supervisor.ts';
import { countProcesses } from './running-daemon.ts';

const environment = { PATH: process.env.PATH ?? '' };

function start(command: string, more: { keep?: boolean } = {}) {
  const id = `supervised-${process.pid}-${Math.random().toString(36).slice(2)}`;
  return startSupervised({ id, command, cwd: tmpdir(), environment, keep: false, perl: '/nonexistent/perl', ...more });
}

const read = (stream: Readable): Promise<string> => text(stream);

test('without Perl: output, exit code, signals', async () => {
  const supervised = start('echo out; echo err >&2; exit 3');
  const { stdout, stderr } = await supervised.streams;
  assert.deepEqual(await Promise.all([read(stdout), read(stderr)]), ['out\n', 'err\n']);
  assert.deepEqual(await supervised.exited, { exitCode: 3, signal: null });
  const killed = start('sleep 600');
  killed.signal('SIGKILL');
  assert.deepEqual(await killed.exited, { exitCode: null, signal: 'SIGKILL' });
});

test('without Perl: what left its session ends with the command, and on TERM, by its marker', async () => {
  const seconds = `7301.${process.pid}`;
  const ending = start(`setsid sleep ${seconds} & sleep 0.1`);
  await ending.exited;
  await until(() => countProcesses(seconds) === 0);
  const asked = start(`setsid bash -c 'trap "" TERM; sleep ${seconds}' & sleep ${seconds}`);
  await until(() => countProcesses(`sleep ${seconds}`) >= 2);
  asked.signal('SIGTERM');
  await asked.exited;
  await until(() => countProcesses(seconds) === 0);
});
