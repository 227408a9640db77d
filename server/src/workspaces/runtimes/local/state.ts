import { join } from 'node:path';
import { z } from 'zod';
import { readText } from './folders.ts';
import { isRunning, type ProcessIdentity, readBootId } from './process-identity.ts';

const identity = z.object({ pid: z.number().int().positive(), startedAt: z.string() });
const stateSchema = z.object({
  generation: z.number().int(),
  bootId: z.string(),
  /** Outside: waits for the workspace, and ends when its daemon does. */
  outer: identity,
  /** The first process inside: when it ends, everything inside ends. */
  inner: identity,
  isReady: z.boolean(),
  /** False: it was started only to delete files. */
  mayWrite: z.boolean().default(true),
});

/** A started workspace's state on disk: enough for another process to take it over. */
export type LocalState = z.infer<typeof stateSchema>;

export async function readState(host: string): Promise<LocalState | undefined> {
  const text = await readText(join(host, 'state.json'));
  if (text === undefined) return undefined;
  try {
    return stateSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Returns the running ones of its two processes. None after a reboot. */
export async function runningOf(state: LocalState): Promise<ProcessIdentity[]> {
  if (state.bootId !== (await readBootId())) return [];
  const both = [state.inner, state.outer];
  const running = await Promise.all(both.map(isRunning));
  return both.filter((_identity, index) => running[index]);
}
