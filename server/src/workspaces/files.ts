import { Readable } from 'node:stream';
import { ApiError } from '@homeport/contracts/errors';
import * as fields from '@homeport/contracts/fields';
import {
  type WorkspaceEntry,
  type WorkspaceFile,
  type WorkspaceListing,
  workspaceEntry,
  workspaceFile,
  workspaceListing,
} from '@homeport/contracts/workspace/daemon';
import { z } from 'zod';
import { systemClock, type Timer } from '../platform/clock.ts';
import type { Daemon } from './daemon.ts';
import type { WorkspaceLease, Workspaces } from './workspaces.ts';

/** Files of a workspace, for its owner (contract.md section 8). Each function starts the workspace if necessary. */

type Needs = { workspaces: Workspaces };
/** A workspace in use. `signal` aborts with the caller and with the workspace. */
export type FileHold = { daemon: Daemon; signal: AbortSignal; touch: () => void };

const defaultFolder = '~/artifacts';
/** For operations that may take long in a large home. */
const patienceMs = 120_000;
/** A form's file arrives at its sender's pace; the form itself refuses senders that fall silent. */
const uploadMs = 24 * 3_600_000;
/** From the last byte of an upload to its response. */
const commitMs = 120_000;
const entryAnswer = z.object({ entry: workspaceEntry });
const page = z.union([workspaceListing, workspaceFile]);

/** Runs work with the workspace's daemon while a lease keeps the workspace running. */
export async function withFiles<T>(
  deps: Needs,
  userId: string,
  signal: AbortSignal,
  work: (hold: FileHold) => Promise<T>,
): Promise<T> {
  const hold: WorkspaceLease = await deps.workspaces.hold(userId, 'transfer', signal);
  try {
    const either = AbortSignal.any([signal, hold.signal]);
    return await work({ daemon: hold.daemon, signal: either, touch: () => hold.touch() });
  } finally {
    await hold.release();
  }
}

/** A page of a folder, or the beginning of a file. Without a path: the home. */
export async function listOrPreview(
  { daemon, signal }: FileHold,
  { path = '~', limit, cursor }: { path?: string; limit: number; cursor?: string },
): Promise<WorkspaceListing | WorkspaceFile> {
  const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
  return daemon.call(`/v1/files?${pathQuery(path)}&limit=${limit}${after}`, page, { signal });
}

export async function stat({ daemon, signal }: FileHold, path: string): Promise<WorkspaceEntry> {
  const { entry } = await daemon.call(`/v1/files/stat?${pathQuery(path)}`, entryAnswer, { signal });
  return entry;
}

/** Nothing is overwritten: a taken name throws `path_taken` (`fail`) or gets a number (`rename`). */
export async function move(
  { daemon, signal }: FileHold,
  body: { from: string; to: string; onConflict: 'fail' | 'rename' },
): Promise<WorkspaceEntry> {
  const { entry } = await daemon.call('/v1/files/move', entryAnswer, { json: body, signal });
  return entry;
}

export async function makeFolder({ daemon, signal }: FileHold, path: string): Promise<WorkspaceEntry> {
  const { entry } = await daemon.call('/v1/files/folder', entryAnswer, { json: { path }, signal });
  return entry;
}

/** Deletes a folder with everything in it. */
export async function remove({ daemon, signal }: FileHold, path: string): Promise<void> {
  const init = { method: 'DELETE', signal, timeoutMs: patienceMs, headersTimeoutMs: patienceMs };
  await daemon.call(`/v1/files?${pathQuery(path)}`, fields.ok, init);
}

/**
 * Passes on a file as it arrives. A taken name gets a number. If the bytes are cut off, the workspace keeps none of
 * them.
 */
export async function upload(hold: FileHold, path: string, bytes: AsyncIterable<Buffer>): Promise<WorkspaceEntry> {
  const late = new AbortController();
  let timer: Timer | undefined;
  const body = Readable.from(counted(), { objectMode: false, highWaterMark: 512 * 1024 });
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      hold.touch();
      yield chunk;
    }
    timer = systemClock.after(commitMs, () =>
      late.abort(new ApiError('workspace_request_failed', 'The workspace took too long to respond')),
    );
  }
  try {
    const signal = AbortSignal.any([hold.signal, late.signal]);
    const query = `${pathQuery(path)}&onConflict=rename`;
    const { entry } = await hold.daemon.call(`/v1/files/content?${query}`, entryAnswer, {
      method: 'PUT',
      headers: { 'content-type': 'application/octet-stream' },
      body,
      signal,
      timeoutMs: uploadMs,
      headersTimeoutMs: uploadMs,
    });
    return entry;
  } finally {
    timer?.stop();
    body.destroy();
  }
}

/** Removes what was uploaded with a form that was refused in the end, even if its sender has disconnected. */
export async function undoUpload({ daemon }: FileHold, path: string): Promise<void> {
  await daemon.call(`/v1/files?${pathQuery(path)}`, fields.ok, { method: 'DELETE' }).catch(() => undefined);
}

/**
 * Default path of an upload: the last part of the sender's file name, in ~/artifacts. Throws
 * `invalid_request` for an invalid name.
 */
export function defaultPath(filename: string | undefined): string {
  const name =
    (filename ?? '')
      .split(/[\\/]/)
      .at(-1)
      ?.replace(/\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, '') ?? '';
  if (name === '' || name === '.' || name === '..') {
    const message = 'A name is required';
    throw new ApiError('invalid_request', `The request is not valid. file: ${message}`, {
      details: [{ path: 'file', message }],
    });
  }
  return `${defaultFolder}/${name}`;
}

export function pathQuery(path: string): string {
  return `path=${encodeURIComponent(path)}`;
}
