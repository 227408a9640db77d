import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { until } from '../../contracts/test/until.ts';
import { perlPath, startSupervised } from '../src/daemon/exec/supervisor.ts';
import { countProcesses } from './running-daemon.ts';

const environment = { PATH: process.env.PATH ?? '' };

function start(command: string, more: { keep?: boolean; perl?: string } = {}) {
  const id = `supervised-${process.pid}-${Math.random().toString(36).slice(2)}`;
  return startSupervised({ id, command, cwd: tmpdir(), environment, keep: false, perl: '/nonexistent/perl', ...more });
}

const read = (stream: Readable): Promise<string> => text(stream);

test('reports output, exit code and signals without Perl', async () => {
  const supervised = start('echo out; echo err >&2; exit 3');
  const { stdout, stderr } = await supervised.streams;
  assert.deepEqual(await Promise.all([read(stdout), read(stderr)]), ['out\n', 'err\n']);
  assert.deepEqual(await supervised.exited, { exitCode: 3, signal: null });
  const killed = start('sleep 600');
  killed.signal('SIGKILL');
  assert.deepEqual(await killed.exited, { exitCode: null, signal: 'SIGKILL' });
});

test('has a supervisor that compiles as strict Perl', () => {
  const file = new URL('../src/daemon/exec/supervisor.pl', import.meta.url).pathname;
  const { status, stderr } = spawnSync(perlPath, ['-Mstrict', '-Mwarnings=FATAL,syntax', '-c', file]);
  assert.equal(status, 0, String(stderr));
});

test('ends processes outside the session by their marker without Perl, at the end and on TERM', async () => {
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

test('ends a command that is killed before it has started', async () => {
  const seconds = `7302.${process.pid}`;
  const early = start(`setsid env -i sleep ${seconds} &`, { keep: true, perl: perlPath });
  // The supervisor waits for an answer before it starts the command, and gets none while this loop holds the thread.
  while (!catches(early.pid, constants.signals.SIGALRM))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  early.signal('SIGKILL');
  await early.exited;
  assert.equal(countProcesses(seconds), 0);
});

test('kills a process that keeps forking as soon as it stops', async () => {
  const seconds = `7303.${process.pid}`;
  for (let run = 0; run < 5; run += 1) {
    const chain = `syswrite STDOUT, "go"; fork and exit for 1 .. 100; exec qw(env -i sleep ${seconds})`;
    const forking = start(`setsid perl -e '${chain}' &`, { keep: true, perl: perlPath });
    const { stdout } = await forking.streams;
    await once(stdout, 'data');
    forking.signal('SIGKILL');
    await forking.exited;
    assert.equal(countProcesses(seconds), 0);
  }
});

test('ends such a process with its command', async () => {
  const seconds = `7304.${process.pid}`;
  const chain = `my $now = time; fork and exit while time < $now + 2; exec qw(env -i sleep ${seconds})`;
  const ending = start(`setsid perl -e '${chain}' &`, { perl: perlPath });
  assert.deepEqual(await ending.exited, { exitCode: 0, signal: null });
  assert.equal(countProcesses(seconds), 0);
});

test('waits for a slow supervisor, so that no hidden process survives', async () => {
  const seconds = `7305.${process.pid}`;
  const folder = mkdtempSync(join(tmpdir(), 'hp-slow-'));
  try {
    const perl = join(folder, 'perl');
    const slowly = `sed 's/^sub slay {/sub slay { pause(.1) for 1 .. 25;/'`;
    writeFileSync(
      perl,
      `#!/bin/sh\nshift\nscript=$(printf '%s' "$1" | ${slowly})\nshift\nexec ${perlPath} -e "$script" "$@"\n`,
    );
    chmodSync(perl, 0o755);
    const slow = start(`${hidden(seconds)}; wait`, { perl });
    const { stdout } = await slow.streams;
    await once(stdout, 'data');
    slow.signal('SIGKILL');
    await slow.exited;
    assert.equal(countProcesses(seconds), 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('ends a command that stops its supervisor, with its processes', async () => {
  const seconds = `7306.${process.pid}`;
  const stopping = start(`${hidden(seconds)}; kill -STOP $PPID; wait`, { perl: perlPath });
  const { stdout } = await stopping.streams;
  await Promise.all([once(stdout, 'data'), until(() => isStopped(stopping.pid))]);
  stopping.signal('SIGKILL');
  await stopping.exited;
  assert.equal(countProcesses(seconds), 0);
});

/** Starts what has left session and environment, and says so as soon as it has. */
function hidden(seconds: string): string {
  return `setsid env -i bash -c 'echo go; exec sleep ${seconds} > /dev/null 2>&1' & true`;
}

function isStopped(pid: number): boolean {
  return / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

function catches(pid: number, signal: number): boolean {
  const [, caught = '0'] = /^SigCgt:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return ((BigInt(`0x${caught}`) >> BigInt(signal - 1)) & 1n) === 1n;
}
