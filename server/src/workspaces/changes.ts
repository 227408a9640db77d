import type { Readable } from 'node:stream';
import { ApiError } from '@homeport/contracts/errors';
import * as fields from '@homeport/contracts/fields';
import {
  type ChangedFile,
  changesApplied,
  daemonTurns,
  type TurnChanges,
  turnChanges,
} from '@homeport/contracts/workspace/daemon';
import type { z } from 'zod';
import type { Daemon } from './daemon.ts';
import { readRefusal } from './daemon-client.ts';
import { type FileHold, pathQuery } from './files.ts';

/** Changes of each turn in a workspace, as recorded by its daemon. */

export type Direction = 'undo' | 'redo';
type Applied = z.infer<typeof changesApplied>;

/** An undo of many large files. */
const patienceMs = 300_000;

export function listChanges({ daemon, signal }: FileHold, turn: string): Promise<TurnChanges> {
  const init = { signal, timeoutMs: patienceMs, headersTimeoutMs: patienceMs };
  return daemon.call(`/v1/changes/${turn}`, turnChanges, init);
}

/** Throws `files_changed` with the paths that were changed since the turn, unless `force`d; nothing is written then. */
export async function applyChanges(
  { daemon, signal }: FileHold,
  turn: string,
  direction: Direction,
  wish: { paths?: string[]; force?: boolean },
): Promise<Applied['skipped']> {
  const init = { json: wish, signal, timeoutMs: patienceMs, headersTimeoutMs: patienceMs };
  const { conflicts: paths, skipped } = await daemon.call(`/v1/changes/${turn}/${direction}`, changesApplied, init);
  if (paths.length === 0) return skipped;
  const what = paths.length === 1 ? `${paths[0]} was` : `${paths.length} files were`;
  const message = `${what} changed by somebody else. Send \`force: true\` to ${direction} this, too`;
  throw new ApiError('files_changed', message, { details: { paths } });
}

/** The bytes of one side of a change, for the caller to read or destroy. Throws `not_found` if they were not kept. */
export async function openVersion(
  { daemon, signal }: FileHold,
  turn: string,
  path: string,
  side: 'before' | 'after',
): Promise<{ size: number; body: Readable }> {
  const place = `/v1/changes/${turn}/content?${pathQuery(path)}&side=${side}`;
  const answer = await daemon.request(place, { signal });
  if (answer.status !== 200) throw await readRefusal(answer, signal);
  const size = Number(answer.headers['content-length'] ?? Number.NaN);
  if (Number.isSafeInteger(size) && size >= 0) return { size, body: answer.body };
  answer.body.destroy();
  throw new ApiError('workspace_request_failed', 'The workspace sent an invalid response');
}

/** The turns that the daemon keeps something of. */
export async function listTurns(daemon: Daemon, signal: AbortSignal): Promise<string[]> {
  return (await daemon.call('/v1/changes', daemonTurns, { signal })).turns;
}

export async function forgetTurns(daemon: Daemon, turns: readonly string[], signal: AbortSignal): Promise<void> {
  await daemon.call('/v1/changes/forget', fields.ok, { json: { turns }, signal });
}

export const noChanges: TurnChanges & { files: ChangedFile[] } = { files: [], left: [], truncated: false };
