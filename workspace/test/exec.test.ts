import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ProcessState } from '@homeport/contracts/workspace/daemon';
import { lacks } from '../../contracts/test/programs.ts';
import { until } from '../../contracts/test/until.ts';
import { countProcesses, exitOf, linesOf, type RunningDaemon, startDaemon, textOf } from './running-daemon.ts';

let daemon: RunningDaemon;
before(async () => {
  daemon = await startDaemon();
});
after(() => daemon.stop());

async function run(id: string, command: string, more: Record<string, unknown> = {}) {
  return await daemon.exec({ id, command, ...more }).ended;
}

async function processOf(id: string): Promise<ProcessState> {
  const { processes } = JSON.parse((await daemon.call('/v1/processes')).text);
  return processes.find((process: ProcessState) => process.id === id);
}

const withoutPython = lacks('python3');

/** A duration that no other process of this machine sleeps for. */
const odd = (seconds: number) => `${seconds}.${process.pid}`;

test('streams the start, both outputs and the exit code of a command', async () => {
  const events = await run('plain', 'echo out; echo err >&2; exit 3');
  const [start] = events;
  assert.equal(start?.type, 'start');
  assert.equal(start?.type === 'start' && start.logPath, '~/.workspace/exec/plain.log');
  assert.equal(textOf(events), 'out\n');
  assert.equal(textOf(events, 'stderr'), 'err\n');
  const { exitCode, signal, timedOut, outputBytes, omittedBytes } = exitOf(events);
  assert.deepEqual([exitCode, signal, timedOut, outputBytes, omittedBytes], [3, null, false, 8, 0]);
  const log = readFileSync(join(daemon.home, '.workspace/exec/plain.log'), 'utf8');
  assert.deepEqual(log.split('\n').sort(), ['', 'err', 'out']);
});

test('gives commands the environment of the contract, without the daemon’s own', async () => {
  const names = textOf(await run('environment', 'env'))
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0] ?? '')
    .sort();
  const own = ['HOME', 'HOMEPORT_PROCESS', 'LANG', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'USER'];
  const unattended = [
    'DEBIAN_FRONTEND',
    'EDITOR',
    'GIT_EDITOR',
    'GIT_PAGER',
    'GIT_SEQUENCE_EDITOR',
    'GIT_TERMINAL_PROMPT',
  ];
  const pages = ['MANPAGER', 'PAGER', 'PIP_DISABLE_PIP_VERSION_CHECK', 'PIP_NO_INPUT', 'SYSTEMD_PAGER', 'VISUAL'];
  const inVenv = withoutPython ? [] : ['VIRTUAL_ENV'];
  assert.deepEqual(names, [...own, ...unattended, ...pages, ...inVenv, 'PWD', 'SHLVL', '_'].sort());
  assert.equal(textOf(await run('working-folder', 'pwd')), `${daemon.home}\n`);
  assert.equal(textOf(await run('scope', 'echo $HOMEPORT_SCOPE', { scope: 'chat:c1' })), 'chat:c1\n');
});

test('accepts output written to /dev/stdout and /dev/stderr', async () => {
  const events = await run('devices', 'echo one > /dev/stdout; echo two > /dev/stderr; echo three | tee /dev/stderr');
  assert.deepEqual([textOf(events), textOf(events, 'stderr')], ['one\nthree\n', 'two\nthree\n']);
});

test('reports the signal name instead of an exit code', async () => {
  const { exitCode, signal } = exitOf(await run('segv', 'kill -SEGV $$'));
  assert.deepEqual([exitCode, signal], [null, 'SIGSEGV']);
});

test('joins characters split over writes and replaces invalid UTF-8', async () => {
  const command = String.raw`printf '\xe2'; sleep 0.05; printf '\x82'; sleep 0.05; printf '\xac \xff.'; printf '\xf0\x9f' `;
  assert.equal(textOf(await run('utf8', command)), '€ \uFFFD.\uFFFD');
  const many = textOf(await run('utf8-many', `yes 'ä€😀' | head -n 50000`));
  assert.equal(many, 'ä€😀\n'.repeat(50_000));
});

test('limits each piece of output to 32 KiB, even if every byte of it is replaced', async () => {
  const events = await run('pieces', `head -c 3000000 /dev/zero | tr '\\0' '\\377'`);
  assert.equal(textOf(events), '\uFFFD'.repeat(3_000_000));
  const sizes = events.map((event) => (event.type === 'stdout' ? Buffer.byteLength(event.data) : 0));
  assert.ok(Math.max(...sizes) <= 32 * 1024);
});

test('kills the whole process tree on a time-out: sessions, cleared environments, double forks, ignored signals', async () => {
  const seconds = odd(7101);
  const deaf = `trap '' TERM INT HUP; while :; do sleep ${seconds}; done`;
  const command = [
    `setsid env -i bash -c "sleep ${seconds}" &`,
    `(setsid setsid sh -c 'sleep ${seconds} & sleep ${seconds}' &)`,
    `setsid env -i bash -c "${deaf}" &`,
    `perl -e 'fork and exit; fork and exit; exec "sleep", "${seconds}"'`,
    'touch started; wait; while :; do sleep 1; done',
  ].join('\n');
  // It can only show something once all of them run: a busy machine gets more time for that.
  for (let timeoutMs = 1_000; !existsSync(join(daemon.home, 'started')); timeoutMs *= 2) {
    assert.ok(timeoutMs < 100_000, 'the command does not come to its end');
    const events = await run(`tree-${timeoutMs}`, command, { timeoutMs });
    assert.equal(exitOf(events).timedOut, true);
    assert.equal(countProcesses(seconds), 0);
  }
});

test('kills and reports the processes that a command left running', async () => {
  const seconds = odd(7102);
  const events = await run('left', `setsid env -i sleep ${seconds} & echo done`);
  assert.equal(textOf(events), 'done\n');
  assert.match(textOf(events, 'stderr'), /1 left running/);
  assert.equal(exitOf(events).exitCode, 0);
  assert.equal(countProcesses(seconds), 0);
});

test('ends a fork bomb at the time-out', async () => {
  const name = `storm${process.pid}`;
  // This machine is not a sandbox: never more than 255 of them with a child each, however slow it is. The last ones
  // keep forking.
  const source = `#!/bin/bash\nif [ "$1" -ge 7 ]; then while :; do /bin/true; done; fi\n$0 $(($1 + 1)) & $0 $(($1 + 1)) & wait\n`;
  await run('storm-file', `cat > ${name}.sh <<'END'\n${source}END\nchmod +x ${name}.sh`);
  const events = await run('storm', `ulimit -t 30; ./${name}.sh 0`, { timeoutMs: 1_500 });
  assert.equal(exitOf(events).timedOut, true);
  await until('no process of it is left', () => countProcesses(`${name}.sh`) === 0);
  assert.equal((await daemon.call('/v1/health')).status, 200);
});

test('streams 50 MB of output, keeps 10 MiB in the log and bounds its memory', async () => {
  const stream = daemon.exec({ id: 'large', command: `head -c 50000000 /dev/zero | tr '\\0' x; echo end` });
  const events = await stream.ended;
  const { outputBytes, omittedBytes } = exitOf(events);
  assert.equal(outputBytes, 50_000_004);
  assert.equal(omittedBytes, 50_000_004 - 10 * 1024 * 1024);
  assert.equal(textOf(events).length, 50_000_004);
  assert.equal(statSync(join(daemon.home, '.workspace/exec/large.log')).size, 10 * 1024 * 1024);
  // Later readers get the log and the end of what is not in it.
  const later = linesOf((await daemon.call('/v1/processes/large/output?after=0')).text);
  assert.ok(textOf(later).length > 10 * 1024 * 1024 && textOf(later).length < 11 * 1024 * 1024);
  assert.ok(textOf(later).endsWith('xxend\n'));
});

test('applies backpressure for a slow reader without buffering', async () => {
  const stream = daemon.exec({ id: 'slow-reader', command: 'yes' });
  const incoming = await stream.opened;
  incoming.pause();
  let last = -1;
  await until(async () => {
    const now = (await processOf('slow-reader')).outputBytes;
    const isStill = now === last && now > 0;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return isStill;
  });
  assert.ok(last < 8 * 1024 * 1024);
  stream.leave();
});

test('ends a foreground command when its reader disconnects', async () => {
  const seconds = odd(7103);
  const stream = daemon.exec({ id: 'leave', command: `echo ready; setsid sleep ${seconds} & sleep ${seconds}` });
  await stream.next((event) => event.type === 'stdout');
  stream.leave();
  await until(() => countProcesses(seconds) === 0);
  const later = linesOf((await daemon.call('/v1/processes/leave/output')).text);
  assert.equal(exitOf(later).timedOut, false);
});

test('joins an equal request with the same id and refuses a different one', async () => {
  const command = 'echo first; until [ -e joined ]; do sleep 0.02; done; echo second';
  const one = daemon.exec({ id: 'same', command });
  await one.next((event) => event.type === 'stdout');
  const two = daemon.exec({ id: 'same', command });
  await two.next((event) => event.type === 'stdout');
  await run('same-go', 'touch joined');
  assert.equal(textOf(await one.ended), 'first\nsecond\n');
  assert.equal(textOf(await two.ended), 'first\nsecond\n');
  assert.equal(textOf(await run('same', command)), 'first\nsecond\n');
  const other = await daemon.call('/v1/exec', { json: { id: 'same', command: 'echo other' } });
  assert.equal(other.status, 400);
  assert.equal(JSON.parse(other.text).error.code, 'invalid_request');
});

test('answers background commands at once, with output from any byte on and signals', async () => {
  const command = 'trap "echo caught; exit 5" USR1; echo 0123456789; while :; do sleep 0.02; done';
  const events = await run('background', command, { background: true });
  assert.deepEqual(
    events.map(({ type }) => type),
    ['start'],
  );
  await until(async () => (await processOf('background')).outputBytes === 11);
  const soFar = linesOf((await daemon.call('/v1/processes/background/output?after=2&follow=false')).text);
  assert.deepEqual([textOf(soFar), soFar.at(-1)?.type], ['23456789\n', 'stdout']);
  const following = daemon.call('/v1/processes/background/output?after=4');
  const signal = await daemon.call('/v1/processes/background/signal', { json: { signal: 'SIGUSR1' } });
  assert.equal(JSON.parse(signal.text).process.id, 'background');
  const output = linesOf((await following).text);
  // The signal goes to the whole command: the shell says so when it hits a `sleep`.
  assert.match(textOf(output), /^456789\n(User defined signal 1\n)?caught\n$/);
  assert.equal(exitOf(output).exitCode, 5);
});

test('keeps processes that a background command leaves running until they are ended', async () => {
  const seconds = odd(7104);
  // Escaped, so that only what the shell has started has it in its command line.
  await run('daemonized', `setsid env -i sleep ${seconds.replace('.', '\\.')} &`, { background: true });
  await until(() => countProcesses(seconds) > 0);
  assert.equal((await processOf('daemonized')).running, true);
  await daemon.call('/v1/processes/daemonized/signal', { json: { signal: 'SIGKILL' } });
  await until(() => countProcesses(seconds) === 0);
});

test('runs at most 32 commands at once; ended ones free their place', async () => {
  const own = await startDaemon();
  try {
    for (let index = 0; index < 32; index += 1) {
      const stream = own.exec({ id: `busy-${index}`, command: 'sleep 600', background: true });
      await stream.ended;
    }
    const refused = await own.call('/v1/exec', { json: { id: 'one-more', command: 'true' } });
    assert.equal(refused.status, 429);
    assert.equal(JSON.parse(refused.text).error.code, 'busy');
    const health = JSON.parse((await own.call('/v1/health')).text);
    assert.equal(health.active.processes, 32);
    await own.call('/v1/processes/busy-0/signal', { json: { signal: 'SIGKILL' } });
    await until(async () => JSON.parse((await own.call('/v1/health')).text).active.processes === 31);
    assert.equal((await own.exec({ id: 'one-more', command: 'true' }).ended).at(-1)?.type, 'exit');
  } finally {
    await own.stop();
  }
});

test('ends all processes with the daemon, even after kill -9', async () => {
  const own = await startDaemon();
  const seconds = odd(7105);
  await own.exec({ id: 'orphan', command: `setsid env -i sleep ${seconds} & sleep ${seconds}`, background: true })
    .ended;
  await until(() => countProcesses(seconds) > 1);
  const closed = new Promise((resolve) => own.child.once('close', resolve));
  own.child.kill('SIGKILL');
  await closed;
  await until(() => countProcesses(seconds) === 0);
  await own.stop();
});

test('starts a command in the given folder, inside the home only', async () => {
  await run('folders', 'mkdir -p "a b/c"');
  assert.equal(textOf(await run('cwd', 'pwd', { cwd: '~/a b/c' })), `${daemon.home}/a b/c\n`);
  symlinkSync('/', join(daemon.home, 'out'));
  for (const cwd of ['/', '/etc', '../..', '~/out/etc', 'out', '~root']) {
    const refused = await daemon.call('/v1/exec', { json: { id: 'outside', command: 'pwd', cwd } });
    assert.ok(refused.status === 400 || refused.status === 404, `${cwd}: ${refused.status}`);
  }
});

test('runs a command longer than the limit of one program argument', async () => {
  const command = `# ${'x'.repeat(130_000)}\necho "long: $0"; exit 4`;
  const events = await run('long', command);
  assert.match(textOf(events), /^long: /);
  assert.equal(exitOf(events).exitCode, 4);
});

test('rejects invalid requests with a message', async () => {
  const bad: unknown[] = [
    {},
    [],
    { id: 'x' },
    { id: '../x', command: 'true' },
    { id: 'x', command: '' },
    { id: 'x', command: 'a\0b' },
    { id: 'x', command: 'true', timeoutMs: 0 },
    { id: 'x', command: 'true', timeoutMs: 3_600_001 },
    { id: 'x', command: 'true', background: 'yes' },
    { id: 'x', command: 'true', env: { A: 'b' } },
    { id: 'x', command: 'true', scope: 'chat:a b' },
    { id: 'x', command: 'x'.repeat(128 * 1024 + 1) },
  ];
  for (const json of bad) {
    const { status, text } = await daemon.call('/v1/exec', { json });
    assert.equal(status, 400, text);
    assert.equal(JSON.parse(text).error.code, 'invalid_request');
  }
  const large = await daemon.call('/v1/exec', { json: { id: 'x', command: 'x'.repeat(2_000_000) } });
  assert.equal(large.status, 413);
  assert.equal((await daemon.call('/v1/processes/nope/output')).status, 404);
  assert.equal((await daemon.call('/v1/processes/plain/output?after=-1')).status, 400);
  assert.equal((await daemon.call('/v1/processes/plain/signal', { json: { signal: 'SIGSTOP' } })).status, 400);
});

test('keeps the order in which a command writes to both outputs', async () => {
  const command = 'for i in $(seq 1 200); do echo out$i; echo err$i >&2; done';
  const expected = Array.from({ length: 200 }, (_, index) => `out${index + 1}\nerr${index + 1}\n`).join('');
  assert.equal(textOf(await run('order', command, { joined: true })), expected);
});

test('commits in the name of the person, without waiting for an editor', { skip: lacks('git') }, async () => {
  const author = { name: 'Nina "N" Meyer', email: 'nina@example.org' };
  const make = 'git init -q g && cd g && echo a > a && git add a && git commit -qm one';
  const amend = 'git commit --amend && GIT_EDITOR="echo two >" git commit -q --amend && git commit --allow-empty';
  const events = await run('commit', `${make}; ${amend}; git log --format='%an <%ae> %s'`, {
    author,
    joined: true,
    timeoutMs: 30_000,
  });
  assert.match(textOf(events), /Aborting commit due to empty commit message/);
  assert.match(textOf(events), /Nina "N" Meyer <nina@example.org> two\n$/);
  const own =
    "git config --global user.name Other; cd g; git commit -q --allow-empty -m x; git log -1 --format='%an %ae'";
  assert.equal(textOf(await run('own-name', own, { author })), 'Other nina@example.org\n');
});

test('runs Python in a virtual environment of the home', { skip: withoutPython }, async () => {
  const events = await run('venv', 'python3 -c "import sys; print(sys.prefix)"; command -v pip; pip --version');
  const [prefix, pip, version] = textOf(events).split('\n');
  assert.deepEqual(
    [prefix, pip],
    [join(daemon.home, '.workspace/homeport-venv'), join(daemon.home, '.workspace/homeport-venv/bin/pip')],
  );
  assert.match(version ?? '', /^pip \d|No module named pip/);
});
