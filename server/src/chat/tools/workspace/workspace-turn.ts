import { ApiError } from '@homeport/contracts/errors';
import { unlessAborted } from '../../../platform/waits.ts';
import type { Daemon } from '../../../workspaces/daemon.ts';
import type { WorkspaceLease, Workspaces } from '../../../workspaces/workspaces.ts';
import { ToolFailure } from '../tool-run.ts';

const lostText =
  'The workspace was stopped or no longer responds. Files in the home folder are kept; processes and /tmp are lost. ' +
  'Another call starts it again.';

/** The workspace of one turn: it starts when the turn does, and is held from the first tool call to the turn's end. */
export class WorkspaceTurn {
  readonly #workspaces: Workspaces;
  readonly #userId: string;
  /** Aborted when the turn has ended. */
  readonly #ended: AbortSignal;
  readonly #onHeld: (hold: WorkspaceLease) => void;
  readonly #onFolder: (folder: string) => void;
  #holding: Promise<WorkspaceLease> | undefined;

  /**
   * With `isRunning`, nothing has to be started. `onHeld` receives each daemon that the turn works with, `onFolder` the
   * folders that its calls work in.
   */
  constructor(
    workspaces: Workspaces,
    { userId, isRunning }: { userId: string; isRunning: boolean },
    ended: AbortSignal,
    { onHeld, onFolder }: { onHeld: (hold: WorkspaceLease) => void; onFolder: (folder: string) => void },
  ) {
    this.#onHeld = onHeld;
    this.#onFolder = onFolder;
    this.#workspaces = workspaces;
    this.#userId = userId;
    this.#ended = ended;
    ended.addEventListener('abort', () => this.#letGo(), { once: true });
    // Not awaited: a call that needs the workspace reports why it is unavailable.
    if (!ended.aborted && !isRunning) workspaces.start(userId, ended).catch(() => undefined);
  }

  /** The folder that a call has just worked in. */
  workedIn(folder: string | undefined): void {
    if (folder !== undefined) this.#onFolder(folder);
  }

  /**
   * Runs `work` on the started workspace. Throws ToolFailure when it is lost meanwhile, what starting it throws, and
   * the signal's reason.
   */
  async use<T>(signal: AbortSignal, work: (daemon: Daemon, signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const hold = await unlessAborted(this.#hold(), signal);
    try {
      return await work(hold.daemon, AbortSignal.any([signal, hold.signal]));
    } catch (error) {
      if (signal.aborted) throw error;
      // A connection may break before it is known why.
      const isLost = hold.signal.aborted || (error instanceof ApiError && error.code === 'workspace_request_failed');
      if (!isLost) throw error;
      hold.doubt();
      this.#letGo();
      throw new ToolFailure(lostText, { cause: error });
    }
  }

  async #hold(): Promise<WorkspaceLease> {
    const known = await this.#holding?.catch(() => undefined);
    if (known !== undefined && !known.signal.aborted) return known;
    if (known !== undefined) this.#letGo();
    if (this.#ended.aborted) throw new ToolFailure('The turn has ended.');
    if (this.#holding === undefined) {
      this.#holding = this.#workspaces.hold(this.#userId, 'turn', this.#ended);
      this.#holding.then(this.#onHeld).catch(() => undefined);
    }
    const holding = this.#holding;
    holding.catch(() => {
      if (this.#holding === holding) this.#holding = undefined;
    });
    return holding;
  }

  #letGo(): void {
    const holding = this.#holding;
    this.#holding = undefined;
    holding?.then((hold) => hold.release()).catch(() => undefined);
  }
}
