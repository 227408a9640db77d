import type { ExecRequest, ProcessState } from '@homeport/contracts/workspace/daemon';
import { changesOf, type Window } from '../changes/changes.ts';
import { isTurnId } from '../changes/records.ts';
import { DaemonError } from '../daemon-error.ts';
import { type Exchange, readJson, sendJson } from '../http.ts';
import { spaceOf } from '../space/home-space.ts';
import type { Daemon } from '../state.ts';
import { Commands } from './commands.ts';
import { prepareHome } from './home-environment.ts';
import { canReadOnly } from './read-only.ts';
import { Reader } from './reader.ts';
import { type Signal, signals } from './supervisor.ts';

const bodyMaxBytes = 1024 * 1024;
const commandMaxChars = 128 * 1024;

/** The endpoints of commands; created at the first request. */
export function createExec(daemon: Daemon) {
  const commands = new Commands(daemon);
  const space = spaceOf(daemon);
  return {
    async getExec(exchange: Exchange): Promise<void> {
      sendJson(exchange, 200, { readOnly: await canReadOnly(daemon) });
    },

    async postExec(exchange: Exchange): Promise<void> {
      const request = parseExec(await readJson(exchange, bodyMaxBytes));
      if (request.readOnly && !(await canReadOnly(daemon))) {
        throw new DaemonError('invalid_request', 'Commands cannot be kept from writing here');
      }
      space.watch();
      if (space.full !== undefined) await space.settle();
      if (!request.readOnly) await prepareHome(daemon.config, request.author);
      if (exchange.signal.aborted) return;
      const window = commands.has(request.id) ? noWindow : await openWindow(daemon, request);
      const { command, isNew } = await startOrEnd(commands, request, window, exchange.signal);
      const reader = new Reader(exchange, () => command.detach(reader));
      reader.send([command.started]);
      if (isNew && !request.background) command.attach(reader);
      if (isNew && space.full !== undefined) command.notify(space.full);
      if (request.background) return reader.end();
      if (!isNew) await command.follow(reader, 0);
    },

    getProcesses(exchange: Exchange): void {
      const processes: ProcessState[] = commands.list().map((command) => command.state);
      sendJson(exchange, 200, { processes });
    },

    async getOutput(exchange: Exchange, id: string): Promise<void> {
      const from = exchange.query.get('after') ?? '0';
      if (!/^\d{1,15}$/.test(from)) throw new DaemonError('invalid_request', 'after is a number of bytes');
      const command = commands.get(id);
      const reader = new Reader(exchange, () => command.detach(reader));
      reader.send([command.started]);
      await command.follow(reader, Number(from), exchange.query.get('follow') !== 'false');
    },

    async postSignal(exchange: Exchange, id: string): Promise<void> {
      const { signal } = await readJson(exchange, bodyMaxBytes);
      if (!isSignal(signal)) throw new DaemonError('invalid_request', `signal is one of ${signals.join(', ')}`);
      const command = commands.get(id);
      command.signal(signal);
      sendJson(exchange, 200, { process: command.state });
    },

    /** Kills everything that runs, when the daemon ends. */
    endAll(): void {
      for (const command of commands.list()) command.signal('SIGKILL');
    },
  };
}

const noWindow: Window = { end: async () => undefined };

async function openWindow(daemon: Daemon, { turn, background = false, readOnly }: ExecRequest): Promise<Window> {
  if (readOnly) return noWindow;
  const changes = changesOf(daemon);
  return turn === undefined ? changes.beginUnknown(background) : changes.begin(turn, background);
}

/** A window whose command does not start is closed at once. */
async function startOrEnd(commands: Commands, request: ExecRequest, window: Window, signal: AbortSignal) {
  try {
    signal.throwIfAborted();
    const started = commands.start(request, window);
    if (!started.isNew) await window.end();
    return started;
  } catch (error) {
    await window.end();
    throw error;
  }
}

function isSignal(value: unknown): value is Signal {
  return signals.some((name) => name === value);
}

/** The body of POST /v1/exec; contracts/src/workspace/daemon.ts explains each field. */
function parseExec(body: Record<string, unknown>): ExecRequest {
  const { id, command, cwd, timeoutMs, background, scope, author, turn, readOnly, joined, ...rest } = body;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw invalid(`Unknown field ${unknown.slice(0, 100)}`);
  if (typeof id !== 'string' || !/^[A-Za-z0-9_-]{1,128}$/.test(id)) throw invalid('id is 1 to 128 of A-Z a-z 0-9 _ -');
  if (typeof command !== 'string' || command === '' || command.length > commandMaxChars || command.includes('\0')) {
    throw invalid(`command is a text of 1 to ${commandMaxChars} characters without NUL`);
  }
  if (cwd !== undefined && typeof cwd !== 'string') throw invalid('cwd is a path');
  if (timeoutMs !== undefined && !isTimeout(timeoutMs)) throw invalid('timeoutMs is a whole number from 1 to 3600000');
  if (background !== undefined && typeof background !== 'boolean') throw invalid('background is true or false');
  if (readOnly !== undefined && typeof readOnly !== 'boolean') throw invalid('readOnly is true or false');
  if (joined !== undefined && typeof joined !== 'boolean') throw invalid('joined is true or false');
  if (scope !== undefined && !isScope(scope)) throw invalid('scope is chat:<id> or project:<id>');
  if (author !== undefined && !isAuthor(author)) throw invalid('author is a name and an e-mail address');
  if (turn !== undefined && !isTurnId(turn)) throw invalid('turn is 1 to 128 of A-Z a-z 0-9 _ -');
  return { id, command, cwd, timeoutMs, background, scope, author, turn, readOnly, joined };
}

function isTimeout(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 3_600_000;
}

function isAuthor(value: unknown): value is NonNullable<ExecRequest['author']> {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('email' in value)) return false;
  const { name, email } = value;
  return typeof name === 'string' && name.length <= 200 && typeof email === 'string' && email.length <= 320;
}

function isScope(value: unknown): value is string {
  return typeof value === 'string' && /^(?:chat|project):[A-Za-z0-9_-]{1,128}$/.test(value);
}

function invalid(message: string): DaemonError {
  return new DaemonError('invalid_request', message);
}
