import { ApiError } from '@homeport/contracts/errors';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { Daemon } from './daemon.ts';
import { createDaemon } from './daemon-client.ts';
import type { WorkspaceRuntime } from './runtime.ts';
import { daemonToken, newWorkspaceToken, sha256, workspaceTokenHash } from './tokens.ts';
import type { Workspaces } from './workspaces.ts';

type Entry = { generation: number; ready: Promise<Daemon>; gone: AbortController; tokenHash: string; isReady: boolean };

/** The first simple form: the states of this process only. */
export function createWorkspaces(deps: { secrets: KeyRing }, runtime: WorkspaceRuntime): Workspaces {
  const entries = new Map<string, Entry>();
  const slots = new Map<string, number>();
  let generations = 0;

  function ensure(id: string): Entry {
    const found = entries.get(id);
    if (found !== undefined) return found;
    const generation = ++generations;
    const token = daemonToken(deps.secrets, deps.secrets.current.id, id, generation) ?? '';
    const workspaceToken = newWorkspaceToken();
    const slot = slots.get(id) ?? slots.size + 1;
    slots.set(id, slot);
    const gone = new AbortController();
    const start = async (): Promise<Daemon> => {
      const wanted = { id, generation, slot, daemonTokenHash: sha256(token), workspaceToken };
      await runtime.start(wanted, gone.signal);
      const daemon = createDaemon({ address: () => runtime.dial(id), token });
      await daemon.health();
      entry.isReady = true;
      return daemon;
    };
    const entry: Entry = { generation, gone, tokenHash: sha256(workspaceToken), isReady: false, ready: start() };
    entries.set(id, entry);
    entry.ready.catch(() => entries.delete(id));
    return entry;
  }

  async function started(id: string): Promise<{ entry: Entry; daemon: Daemon }> {
    const entry = ensure(id);
    try {
      return { entry, daemon: await entry.ready };
    } catch (error) {
      throw new ApiError('workspace_start_timeout', 'The workspace did not start', { cause: error });
    }
  }

  return {
    mode: runtime.kind,
    notice: undefined,
    async status(userId) {
      const entry = entries.get(userId);
      if (entry === undefined) return { phase: 'stopped', ready: false, mode: runtime.kind };
      return { phase: entry.isReady ? 'running' : 'starting', ready: entry.isReady, mode: runtime.kind };
    },
    async start(userId) {
      await started(userId);
    },
    async stop(userId) {
      const entry = entries.get(userId);
      entries.delete(userId);
      entry?.gone.abort(new ApiError('workspace_request_failed', 'The workspace was stopped'));
      await runtime.stop(userId, 0);
    },
    async hold(userId) {
      const { entry, daemon } = await started(userId);
      return { daemon, signal: entry.gone.signal, touch() {}, async release() {} };
    },
    async findUserId(token) {
      const hash = workspaceTokenHash(token);
      for (const [id, entry] of entries) if (entry.tokenHash === hash) return id;
      return undefined;
    },
    async accountDisabled(userId) {
      await this.stop(userId);
    },
    close: () => runtime.close(),
  };
}
