import type { ExecRequest } from '@homeport/contracts/workspace/daemon';
import { clock } from '../../clock.ts';
import type { Window } from '../changes/changes.ts';
import { DaemonError } from '../daemon-error.ts';
import { spaceOf } from '../space/home-space.ts';
import type { Daemon } from '../state.ts';
import { Command } from './command.ts';
import { homeEnvironment, unattended } from './home-environment.ts';
import { removeOldLogs } from './output-log.ts';
import { readOnlyEnvironment } from './read-only.ts';
import { openWorkingFolder } from './working-folder.ts';

const runningMax = 32;
const keptMax = 100;
const keptMs = 5 * 60_000;
/** How long a background command keeps the workspace from being idle. */
const activeBackgroundMs = 2 * 60 * 60_000;
const logsRemovedEvery = 50;

/** The running commands, and those that ended in the last 5 minutes. */
export class Commands {
  readonly #daemon: Daemon;
  readonly #commands = new Map<string, Command>();
  #startedCount = 0;

  constructor(daemon: Daemon) {
    this.#daemon = daemon;
    const running = (): Command[] => this.list().filter((command) => command.isRunning);
    spaceOf(daemon).subscribe({
      notify: (text) => {
        for (const command of running()) command.notify(text);
      },
      end: () => {
        for (const command of running()) command.signal('SIGKILL');
      },
    });
  }

  has(id: string): boolean {
    return this.#commands.has(id);
  }

  /**
   * The command with the request's id: the existing one if the request is the same, otherwise a new one. Files
   * that it writes belong to the turn of `window`; the window ends with the command.
   */
  start(request: ExecRequest, window: Window): { command: Command; isNew: boolean } {
    const known = this.#commands.get(request.id);
    if (known !== undefined) {
      if (isSame(known.request, request)) return { command: known, isNew: false };
      throw new DaemonError('invalid_request', 'Another command has this id');
    }
    const running = this.list().filter((command) => command.isRunning);
    if (running.length >= runningMax) throw new DaemonError('busy', `${runningMax} commands run already`);
    return { command: this.#start(request, window), isNew: true };
  }

  list(): Command[] {
    return [...this.#commands.values()];
  }

  get(id: string): Command {
    const command = this.#commands.get(id);
    if (command === undefined) throw new DaemonError('not_found', 'No such process');
    return command;
  }

  #start(request: ExecRequest, window: Window): Command {
    const { config, activity, log } = this.#daemon;
    if (this.#startedCount++ % logsRemovedEvery === 0) void removeOldLogs(config.home);
    const folder = openWorkingFolder(config.home, request.cwd);
    const endActivity = activity.begin('processes');
    const timer = request.background ? clock.after(activeBackgroundMs, endActivity) : undefined;
    const onEnd = (command: Command): void => {
      timer?.stop();
      endActivity();
      // It may have deleted something.
      const space = spaceOf(this.#daemon);
      if (space.full !== undefined) void space.look();
      this.#keepForAWhile(command);
    };
    try {
      const { home, commandEnvironment } = config;
      const scope: Record<string, string> = request.scope === undefined ? {} : { HOMEPORT_SCOPE: request.scope };
      const all = { ...commandEnvironment, ...homeEnvironment(config), ...unattended, ...scope };
      const environment = request.readOnly ? readOnlyEnvironment(all) : all;
      const beforeEnd = (): Promise<void> => window.end();
      const command = new Command({ request, cwd: folder.path, home, environment, beforeEnd, onEnd });
      this.#commands.set(request.id, command);
      return command;
    } catch (error) {
      endActivity();
      log('a command could not be started', error);
      throw new DaemonError('busy', 'No process can be started: too many are running, or memory is short');
    } finally {
      folder.close();
    }
  }

  #keepForAWhile(command: Command): void {
    const ended = this.list().filter((candidate) => !candidate.isRunning);
    for (const old of ended.slice(0, Math.max(0, ended.length - keptMax))) this.#forget(old);
    clock.after(keptMs, () => this.#forget(command));
  }

  #forget(command: Command): void {
    if (this.#commands.get(command.request.id) !== command) return;
    this.#commands.delete(command.request.id);
    command.forget();
  }
}

function isSame(a: ExecRequest, b: ExecRequest): boolean {
  return (
    a.command === b.command &&
    a.cwd === b.cwd &&
    a.timeoutMs === b.timeoutMs &&
    a.scope === b.scope &&
    (a.background ?? false) === (b.background ?? false) &&
    (a.readOnly ?? false) === (b.readOnly ?? false) &&
    (a.joined ?? false) === (b.joined ?? false)
  );
}
