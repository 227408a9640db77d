import assert from 'node:assert/strict';
import test from 'node:test';
import {
  type SocketEvents,
  TerminalConnection,
  type TerminalSocket,
  type TerminalState,
} from './terminal-connection.ts';

type Fake = { socket: TerminalSocket; events: SocketEvents; sent: unknown[]; isClosed: boolean };

function terminalOf({ opensItself = true } = {}) {
  const sockets: Fake[] = [];
  const states: TerminalState[] = [];
  const shown: string[] = [];
  let isRunning: boolean | Error = true;
  let resets = 0;
  let isBusy = false;
  const connection = new TerminalConnection('one', {
    open: (_target, events) => {
      const fake: Fake = { events, sent: [], isClosed: false, socket: undefined as unknown as TerminalSocket };
      fake.socket = {
        readyState: 1,
        send: (data) => void fake.sent.push(data),
        close: () => {
          if (fake.isClosed) return;
          fake.isClosed = true;
          events.onClose(1005);
        },
      };
      sockets.push(fake);
      if (opensItself) events.onOpen();
      return fake.socket;
    },
    isRunning: async () => {
      if (isRunning instanceof Error) throw isRunning;
      return isRunning;
    },
    size: () => ({ columns: 80, rows: 24 }),
    onReset: () => {
      resets += 1;
    },
    onOutput: (bytes) => {
      shown.push(new TextDecoder().decode(bytes.subarray(0, 20)));
      return isBusy ? new Promise(() => undefined) : Promise.resolve();
    },
    onState: (state) => void states.push(state),
    wait: async (_milliseconds, signal) => signal.throwIfAborted(),
  });
  const last = () => sockets.at(-1) as Fake;
  const say = (value: unknown) =>
    last().events.onMessage(typeof value === 'string' ? bytesOf(value) : JSON.stringify(value));
  return {
    connection,
    sockets,
    states,
    shown,
    last,
    say,
    resets: () => resets,
    setRunning: (value: boolean | Error) => {
      isRunning = value;
    },
    setBusy: () => {
      isBusy = true;
    },
  };
}

const bytesOf = (text: string) => new TextEncoder().encode(text).buffer;
const settled = () => new Promise((resolve) => setImmediate(resolve));
const attached = (isNew: boolean) => ({ type: 'attached', id: 'one', isNew });

test('reconnects after a break and replaces the screen with the server’s scrollback', async () => {
  const { connection, sockets, states, shown, last, say, resets } = terminalOf();
  connection.open();
  say(attached(true));
  say('$ ');
  assert.deepEqual(shown, ['$ ']);
  assert.equal(resets(), 0);
  last().events.onClose(1006);
  await settled();
  assert.equal(sockets.length, 2);
  say(attached(false));
  assert.equal(resets(), 1);
  assert.deepEqual(
    states.map(({ kind }) => kind),
    ['open', 'lost', 'open'],
  );
});

test("doesn't start a stopped workspace from an open terminal", async () => {
  const { connection, sockets, states, last, say, setRunning } = terminalOf();
  connection.open();
  say(attached(true));
  setRunning(false);
  last().events.onClose(1006);
  await settled();
  assert.equal(sockets.length, 1);
  assert.deepEqual(states.at(-1), { kind: 'stopped' });
});

test('keeps retrying while the workspace state is unknown', async () => {
  const { connection, sockets, last, setRunning } = terminalOf();
  connection.open();
  setRunning(new Error('no network'));
  last().events.onClose(1006);
  await settled();
  assert.equal(sockets.length, 2);
});

test('closes for good when the shell exits, another window takes over, or reconnecting keeps failing', async () => {
  const exited = terminalOf();
  exited.connection.open();
  exited.say(attached(true));
  exited.say({ type: 'exit', exitCode: 3 });
  exited.last().events.onClose(1000);
  await settled();
  assert.deepEqual(exited.states.at(-1), { kind: 'exited', exitCode: 3 });
  assert.equal(exited.sockets.length, 1);

  const elsewhere = terminalOf();
  elsewhere.connection.open();
  elsewhere.say(attached(true));
  elsewhere.last().events.onClose(4000);
  await settled();
  assert.deepEqual(elsewhere.states.at(-1), { kind: 'elsewhere' });

  const refused = terminalOf();
  refused.connection.open();
  for (let i = 0; i < 20; i += 1) {
    refused.last().events.onClose(1006);
    await settled();
  }
  assert.equal(refused.states.at(-1)?.kind, 'failed');
  assert.ok(refused.sockets.length < 10);
});

test('says that WebSockets are refused when the server answers but no connection is ever made', async () => {
  const { connection, sockets, states, last } = terminalOf({ opensItself: false });
  connection.open();
  for (let attempt = 0; attempt < 3; attempt += 1) {
    last().events.onClose(1006);
    await settled();
  }
  assert.equal(sockets.length, 3);
  assert.deepEqual(states.at(-1), { kind: 'failed', reason: 'refused' });
});

test('keeps trying while the server does not answer either', async () => {
  const { connection, sockets, states, last, setRunning } = terminalOf({ opensItself: false });
  connection.open();
  setRunning(new Error('no network'));
  for (let attempt = 0; attempt < 5; attempt += 1) {
    last().events.onClose(1006);
    await settled();
  }
  assert.equal(sockets.length, 6);
  assert.deepEqual(states, []);
});

test('sends pasted text in pieces and drops input without a connection', async () => {
  const { connection, last, say } = terminalOf();
  connection.input(new Uint8Array(1));
  connection.open();
  say(attached(true));
  const before = last().sent.length;
  connection.input(new Uint8Array(150_000).fill(97));
  const pieces = last()
    .sent.slice(before)
    .map((piece) => (piece as Uint8Array).length);
  assert.deepEqual(pieces, [65_536, 65_536, 18_928]);
  connection.end();
  assert.equal(last().sent.at(-1), '{"type":"close"}');
});

test('skips to the end of output that arrives too fast', async () => {
  const { connection, sockets, say, setBusy } = terminalOf();
  connection.open();
  say(attached(true));
  setBusy();
  for (let i = 0; i < 10; i += 1) say('x'.repeat(1024 * 1024));
  await settled();
  assert.equal(sockets.length, 2);
});

test("doesn't reconnect a closed terminal", async () => {
  const { connection, sockets, say } = terminalOf();
  connection.open();
  say(attached(true));
  connection.close();
  await settled();
  assert.equal(sockets.length, 1);
});
