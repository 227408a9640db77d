import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { after, before, mock, test } from 'node:test';
import { until } from '../../contracts/test/until.ts';
import { keepAlive } from '../src/daemon/terminal/terminal.ts';
import { countProcesses, type RunningDaemon, startDaemon } from './running-daemon.ts';

let daemon: RunningDaemon;
before(async () => {
  daemon = await startDaemon();
});
after(() => daemon.stop());

async function openTerminals(): Promise<number> {
  return JSON.parse((await daemon.call('/v1/health')).text).active.terminals;
}

test('attaches to a shell with size, input, output and exit code', async () => {
  const terminal = daemon.openTerminal('id=plain&columns=101&rows=31');
  await until(() => terminal.messages.length > 0);
  assert.deepEqual(terminal.messages[0], { type: 'attached', id: 'plain', isNew: true });
  terminal.type('stty size; pwd; echo "secret=$SECRET_OF_THE_DAEMON."\n');
  await terminal.shows('31 101');
  await terminal.shows(daemon.home);
  await terminal.shows('secret=.');
  terminal.socket.send(JSON.stringify({ type: 'resize', columns: 77, rows: 22 }));
  terminal.type('stty size\n');
  await terminal.shows('22 77');
  terminal.type('exit 3\n');
  await terminal.closed;
  assert.deepEqual(terminal.messages.at(-1), { type: 'exit', exitCode: 3 });
  await until(async () => (await openTerminals()) === 0);
});

test('passes no descriptors of the daemon to the shell', async () => {
  const terminal = daemon.openTerminal('id=descriptors');
  await terminal.opened;
  terminal.type('ls -l /proc/self/fd; echo the"-"end\n');
  await terminal.shows('the-end');
  assert.doesNotMatch(terminal.seen(), /socket:/);
  terminal.type('exit\n');
  await terminal.closed;
});

test('replays the kept output on re-attaching and then continues the running program', async () => {
  const first = daemon.openTerminal('id=again');
  await first.opened;
  first.type('echo one-$((1+1)); (until [ -e go ]; do sleep 0.02; done; echo three-$((1+3)))\n');
  await first.shows('one-2');
  first.socket.close();
  await first.closed;
  const second = daemon.openTerminal('id=again');
  await until(() => second.messages.length > 0);
  assert.deepEqual(second.messages[0], { type: 'attached', id: 'again', isNew: false });
  await second.shows('one-2');
  await daemon.exec({ id: 'go', command: 'touch go' }).ended;
  await second.shows('three-4');
  second.type('exit\n');
  await second.closed;
});

test('keeps 256 KiB of output that begin with a whole character', async () => {
  const first = daemon.openTerminal('id=ring');
  await first.opened;
  // No prompt follows: it would come on top of what was kept.
  first.type('yes € | head -n 200000; echo all-$((1+1)); sleep 7200\n');
  await first.shows('all-2');
  first.socket.close();
  await first.closed;
  const second = daemon.openTerminal('id=ring');
  await second.shows('all-2');
  assert.ok(Buffer.byteLength(second.seen()) <= 256 * 1024);
  assert.ok(Buffer.byteLength(second.seen()) > 200 * 1024);
  assert.doesNotMatch(second.seen(), /\uFFFD/);
  assert.equal((await daemon.call('/v1/terminal?id=ring', { method: 'DELETE' })).status, 200);
  await second.closed;
});

test('pauses the shell while a socket does not read and continues for another once it has left', async () => {
  const first = daemon.openTerminal('id=stuck');
  await first.opened;
  first.socket.pause();
  first.type('yes | head -c 5000000; echo all-$((1+1))\n');
  const second = daemon.openTerminal('id=stuck');
  await second.opened;
  await until(() => second.seen().length > 100_000);
  first.socket.terminate();
  await second.shows('all-2');
  second.type('exit\n');
  await second.closed;
});

test('ends the shell and its foreground program on DELETE', async () => {
  const seconds = `7201.${process.pid}`;
  const terminal = daemon.openTerminal('id=delete');
  await terminal.opened;
  terminal.type(`sleep ${seconds}\n`);
  await until(() => countProcesses(`sleep ${seconds}`) > 0);
  assert.equal((await daemon.call('/v1/terminal?id=delete', { method: 'DELETE' })).status, 200);
  await terminal.closed;
  await until(() => countProcesses(`sleep ${seconds}`) === 0);
  assert.equal((await daemon.call('/v1/terminal?id=delete', { method: 'DELETE' })).status, 404);
});

test('refuses the ninth terminal before the WebSocket handshake', async () => {
  const own = await startDaemon();
  try {
    const terminals = Array.from({ length: 8 }, (_, index) => own.openTerminal(`id=t${index}`));
    await Promise.all(terminals.map(({ opened }) => opened));
    assert.equal(await own.openTerminal('id=t8').refused, 429);
    const again = own.openTerminal('id=t7');
    await again.opened;
    assert.equal(terminals[0]?.messages.length, 1);
  } finally {
    await own.stop();
  }
});

test('rejects a wrong token, a wrong path and invalid messages', async () => {
  assert.equal(await daemon.openTerminal('id=x', { bearer: 'wrong' }).refused, 401);
  assert.equal(await daemon.openTerminal('id=../x').refused, 400);
  assert.equal(await daemon.openTerminal('id=x&columns=0').refused, 400);
  assert.equal(await daemon.openTerminal('id=x&rows=many').refused, 400);
  assert.equal((await daemon.call('/v1/terminal?id=x')).status, 405);
  const terminal = daemon.openTerminal('id=nonsense');
  await terminal.opened;
  for (const text of ['', '{', 'null', '[]', '{"type":"resize","columns":-1,"rows":1}', '{"type":"other"}']) {
    terminal.socket.send(text);
  }
  terminal.type('echo alive-$((1+1))\n');
  await terminal.shows('alive-2');
  terminal.type('exit\n');
  await terminal.closed;
});

test('pings an idle terminal every 20 seconds and closes it without a response', () => {
  mock.timers.enable({ apis: ['setInterval'] });
  try {
    const said: string[] = [];
    const socket = Object.assign(new EventEmitter(), {
      ping: () => void said.push('ping'),
      terminate: () => void said.push('end'),
    });
    const stop = keepAlive(socket);
    for (let minute = 0; minute < 1; minute += 1 / 3) {
      mock.timers.tick(20_000);
      socket.emit('pong');
    }
    assert.deepEqual(said, ['ping', 'ping', 'ping']);
    mock.timers.tick(40_000);
    assert.deepEqual(said.slice(3), ['ping', 'end']);
    stop();
  } finally {
    mock.timers.reset();
  }
});

/** In the daemon, a signal triggers the work of every 20 seconds. */
const signalled = `
const every = globalThis.setInterval;
const works = [];
process.on('SIGUSR2', () => works.forEach((work) => work()));
globalThis.setInterval = (work, ms, ...rest) => {
  if (ms === 20000) works.push(work);
  return every(work, ms === 20000 ? 2 ** 30 : ms, ...rest);
};
`;

test('pings an open terminal, keeps it while a watcher answers, and ends it when none does', async () => {
  const own = await startDaemon({ NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(signalled)}` });
  try {
    const watched = own.openTerminal('id=watched');
    let pings = 0;
    watched.socket.on('ping', () => {
      pings += 1;
    });
    await watched.opened;
    const passRound = async (round: number): Promise<void> => {
      own.child.kill('SIGUSR2');
      await until(`ping ${round}`, () => pings === round);
      // The pong went out before this, so the daemon has it by now.
      watched.type(`echo round-$((${round}+100))\n`);
      await watched.shows(`round-${round + 100}`);
    };
    for (const round of [1, 2, 3]) await passRound(round);
    const silent = own.openTerminal('id=silent', { autoPong: false });
    const pinged = new Promise((resolve) => silent.socket.once('ping', resolve));
    await silent.opened;
    await passRound(4);
    await pinged;
    await passRound(5);
    await until('the end of the silent one', () => silent.socket.readyState === silent.socket.CLOSED);
    assert.equal(watched.socket.readyState, watched.socket.OPEN);
  } finally {
    await own.stop();
  }
});
