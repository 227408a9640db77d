import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { clock } from '../../clock.ts';
import { changesOf } from '../changes/changes.ts';
import { DaemonError } from '../daemon-error.ts';
import { perlPath, type Supervised, startSupervised } from '../exec/supervisor.ts';
import { spaceOf } from '../space/home-space.ts';
import type { Daemon } from '../state.ts';
import { OutputRing } from '../terminal/output-ring.ts';

const pipesMax = 16;
/** The first line: what to start. */
const programMaxBytes = 512 * 1024;
const programMs = 10_000;
const errorTailBytes = 8 * 1024;
/** How long a program may take to end once its reader is gone, and its output to arrive once it has ended. */
const graceMs = 500;

type Program = { command: string; args: string[]; env: Record<string, string> };

/** Programs whose input and output are a connection's; created at the first request. */
export function createPipes(daemon: Daemon) {
  const open = new Set<Supervised>();
  let count = 0;
  const space = spaceOf(daemon);
  space.subscribe({ notify: () => undefined, end: () => endAll() });

  async function run(socket: Duplex): Promise<void> {
    const program = parseProgram(await firstLine(socket));
    // A third-party program gets access to models only through variables that the person sets for it.
    const { OPENAI_BASE_URL: _url, OPENAI_API_KEY: _key, ...usual } = daemon.config.commandEnvironment;
    const environment = { ...usual, ...program.env };
    const endActivity = daemon.activity.begin('processes');
    let running: Supervised | undefined;
    space.watch();
    try {
      running = startSupervised({
        id: `pipe-${++count}`,
        command: program.command,
        args: program.args,
        environment,
        cwd: daemon.config.home,
        keep: false,
        perl: perlPath,
      });
      open.add(running);
      // The program's work can write files.
      const end = await joined(socket, running, () => changesOf(daemon).typed());
      socket.end(`\n#exit ${JSON.stringify(end)}\n`);
    } finally {
      if (running !== undefined) open.delete(running);
      endActivity();
    }
  }

  function endAll(): void {
    for (const running of open) running.signal('SIGKILL');
  }

  return {
    /** Throws only before anything was sent. */
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      if (open.size >= pipesMax) throw new DaemonError('busy', `${pipesMax} programs are running already`);
      const key = request.headers['sec-websocket-key'];
      if (typeof key !== 'string') throw new DaemonError('invalid_request', 'Not an upgrade');
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      const lines = ['connection: Upgrade', 'upgrade: websocket', `sec-websocket-accept: ${accept}`];
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
      if (head.length > 0) socket.unshift(head);
      run(socket).catch((error: unknown) => {
        const stderr = error instanceof Error ? error.message : 'It could not be started';
        if (!socket.destroyed) socket.end(`\n#exit ${JSON.stringify({ exitCode: null, signal: null, stderr })}\n`);
      });
    },

    endAll,
  };
}

/** Passes bytes both ways until the program or the connection ends; then neither is left. */
async function joined(socket: Duplex, running: Supervised, onInput: () => void) {
  const { streams, input, exited } = running;
  const { stdout, stderr } = await streams;
  const tail = new OutputRing(errorTailBytes);
  stderr.on('data', (chunk: Buffer) => tail.push(chunk));
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined);
  if (input !== undefined) socket.on('data', onInput).pipe(input);
  stdout.pipe(socket, { end: false });
  const drained = new Promise((resolve) => stdout.once('close', resolve).once('end', resolve));
  const leave = (): void => {
    input?.end();
    clock.after(graceMs, () => running.signal('SIGTERM'));
  };
  socket.once('close', leave);
  if (socket.destroyed) leave();
  const { exitCode, signal } = await exited;
  await Promise.race([drained, new Promise<void>((resolve) => clock.after(graceMs, resolve))]);
  stdout.unpipe(socket);
  return { exitCode, signal, stderr: tail.read().toString('utf8') };
}

/** Reads up to the first line feed; later bytes stay in the socket. */
function firstLine(socket: Duplex): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (settled: () => void): void => {
      timer.stop();
      socket.pause();
      socket.off('data', onData).off('close', onClose);
      settled();
    };
    const onClose = (): void => settle(() => reject(new Error('The connection was closed')));
    const onData = (chunk: Buffer): void => {
      const feed = chunk.indexOf(10);
      chunks.push(feed < 0 ? chunk : chunk.subarray(0, feed));
      bytes += chunk.length;
      if (feed < 0 && bytes > programMaxBytes) settle(() => reject(new Error('The program is described at length')));
      if (feed < 0) return;
      settle(() => {
        if (feed + 1 < chunk.length) socket.unshift(chunk.subarray(feed + 1));
        resolve(Buffer.concat(chunks).toString('utf8'));
      });
    };
    const timer = clock.after(programMs, () => settle(() => reject(new Error('No program was named'))));
    socket.on('data', onData).on('close', onClose);
  });
}

function parseProgram(line: string): Program {
  const { command, args, env } = JSON.parse(line) ?? {};
  const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0');
  if (!isText(command) || command === '' || !Array.isArray(args) || !args.every(isText)) {
    throw new Error('The program is not described as it must be');
  }
  const pairs = Object.entries(env ?? {}).filter((pair): pair is [string, string] => isText(pair[1]));
  return { command, args, env: Object.fromEntries(pairs) };
}
