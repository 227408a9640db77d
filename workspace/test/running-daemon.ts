import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { type ExecEvent, execEvent } from '@homeport/contracts/workspace/daemon';
import { WebSocket } from 'ws';
import { until } from '../../contracts/test/until.ts';

export type Answer = { status: number; headers: Record<string, string | string[] | undefined>; text: string };
type Init = { method?: string; token?: string; json?: unknown; body?: string; headers?: Record<string, string> };
/** How a terminal is opened; without `autoPong` no ping is answered. */
type How = { bearer?: string; autoPong?: boolean };

const main = join(import.meta.dirname, '../src/daemon/main.ts');
const token = 'the-token-of-this-generation';

/** The real daemon, without a sandbox, on a unix socket in a folder of its own. Call `stop` in `after`. */
export async function startDaemon(environment: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'hp-daemon-'));
  const home = join(folder, 'home');
  const socketPath = join(folder, 's');
  const hashFile = join(folder, 'hash');
  mkdirSync(home);
  writeFileSync(hashFile, createHash('sha256').update(token).digest('hex'));
  const child = spawn(process.execPath, [main], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOMEPORT_HOME: home,
      HOMEPORT_GENERATION: '7',
      HOMEPORT_LISTEN: `unix:${socketPath}`,
      HOMEPORT_READY_FD: '3',
      HOMEPORT_DAEMON_HASH_FILE: hashFile,
      SECRET_OF_THE_DAEMON: 'must not be seen',
      ...environment,
    },
  });
  await firstLine(child);
  return {
    home,
    folder,
    child,
    socketPath,
    token,
    call: (path: string, init: Init = {}) => call(socketPath, path, init),
    exec: (body: Record<string, unknown>) => exec(socketPath, body),
    openTerminal: (query: string, how: How = {}) => openTerminal(socketPath, query, how),
    async stop(): Promise<void> {
      const closed = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
export type RunningDaemon = Awaited<ReturnType<typeof startDaemon>>;

function firstLine(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdio[3] as Readable }).once('line', () => resolve());
    child.once('exit', () => reject(new Error('the daemon ended')));
  });
}

function send(socketPath: string, path: string, init: Init) {
  const { method = init.json === undefined ? 'GET' : 'POST', token: bearer = token, json, body } = init;
  const headers = {
    ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    ...init.headers,
  };
  const outgoing = request({ socketPath, path, method, headers, agent: false });
  outgoing.end(json === undefined ? body : JSON.stringify(json));
  return outgoing;
}

function call(socketPath: string, path: string, init: Init): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = send(socketPath, path, init);
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const { statusCode: status = 0, headers } = incoming;
        resolve({ status, headers, text: Buffer.concat(chunks).toString() });
      });
    });
  });
}

/** A command whose output is read as it comes; `leave` breaks the connection. Every event must match the contract. */
function exec(socketPath: string, body: Record<string, unknown>) {
  const outgoing = send(socketPath, '/v1/exec', { json: body });
  const events: ExecEvent[] = [];
  let waiting: { until: (event: ExecEvent) => boolean; resolve: (event: ExecEvent) => void }[] = [];
  const opened = new Promise<Readable>((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', resolve);
  });
  opened.catch(() => undefined);
  const ended = opened.then(
    (incoming) =>
      new Promise<ExecEvent[]>((resolve) => {
        incoming.on('error', () => undefined);
        const lines = createInterface({ input: incoming });
        lines.on('error', () => resolve(events));
        lines.on('line', (line) => {
          const event = execEvent.parse(JSON.parse(line));
          events.push(event);
          for (const wait of waiting.filter(({ until }) => until(event))) wait.resolve(event);
          waiting = waiting.filter(({ until }) => !until(event));
        });
        lines.on('close', () => resolve(events));
      }),
  );
  ended.catch(() => undefined);
  return {
    events,
    opened,
    ended,
    next: (until: (event: ExecEvent) => boolean) =>
      new Promise<ExecEvent>((resolve) => {
        const found = events.find(until);
        if (found === undefined) waiting.push({ until, resolve });
        else resolve(found);
      }),
    leave: () => outgoing.destroy(),
  };
}

export function textOf(events: ExecEvent[], type: 'stdout' | 'stderr' = 'stdout'): string {
  return events.map((event) => (event.type === type ? event.data : '')).join('');
}

export function exitOf(events: ExecEvent[]): Extract<ExecEvent, { type: 'exit' }> {
  const last = events.at(-1);
  if (last?.type !== 'exit') throw new Error(`the last event is ${last?.type}`);
  return last;
}

export function linesOf(text: string): ExecEvent[] {
  return text
    .trim()
    .split('\n')
    .map((line) => execEvent.parse(JSON.parse(line)));
}

/** How many processes have this text in their command line. */
export function countProcesses(text: string): number {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(text)).length;
}

function commandLine(pid: string): string {
  try {
    const state = /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
    return state === 'Z' ? '' : readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** A terminal's socket; `seen` is all its output so far, `messages` the texts beside it. */
function openTerminal(socketPath: string, query: string, { bearer = token, autoPong = true }: How) {
  const socket = new WebSocket(`ws+unix:${socketPath}:/v1/terminal?${query}`, {
    headers: { authorization: `Bearer ${bearer}` },
    autoPong,
  });
  const messages: Record<string, unknown>[] = [];
  let seen = '';
  socket.on('message', (data, isBinary) => {
    if (isBinary) seen += String(data);
    else messages.push(JSON.parse(String(data)));
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const refused = new Promise<number>((resolve) => {
    socket.once('unexpected-response', (_request, incoming) => {
      incoming.resume();
      resolve(incoming.statusCode ?? 0);
    });
  });
  return {
    socket,
    messages,
    closed,
    refused,
    seen: () => seen,
    opened: new Promise<void>((resolve) => socket.once('open', () => resolve())),
    type: (text: string) => socket.send(Buffer.from(text)),
    shows: (text: string) => until(() => seen.includes(text)),
  };
}
