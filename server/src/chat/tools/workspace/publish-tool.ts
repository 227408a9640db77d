import { basename } from 'node:path';
import type { FilePart } from '@homeport/contracts/chat/frames';
import { ApiError } from '@homeport/contracts/errors';
import { sniffImage } from '@homeport/contracts/files/image-bytes';
import { workspaceEntry } from '@homeport/contracts/workspace/daemon';
import { z } from 'zod';
import type { BlobStore } from '../../../artifacts/blob-store.ts';
import { filenameOf, parsePath } from '../../../artifacts/path.ts';
import { createArtifact } from '../../../artifacts/uploads.ts';
import type { DaemonResponse } from '../../../egress/daemon-request.ts';
import type { Platform } from '../../../platform.ts';
import { readOperation } from '../../../settings/operation.ts';
import type { Daemon } from '../../../workspaces/daemon.ts';
import { defineTool } from '../tool-input.ts';
import { type Tool, ToolAnswer, ToolFailure } from '../tool-run.ts';
import type { WorkspaceTurn } from './workspace-turn.ts';

export type PublishDeps = Pick<Platform, 'db' | 'log' | 'config'> & { artifactStore: BlobStore };
type Owner = { userId: string; chatId: string };

const description = `Publishes a file from the workspace as an artifact of this conversation, where the person can see and download it. Use it to hand over results.
Publishing under the same name again creates a new version. Include the link from the result in your reply. To publish a folder, make a .zip of it with bash first.`;

const input = z.object({
  path: z.string().min(1).max(4096).describe('The file, relative to the home folder, or ~/…, or /home/user/….'),
  name: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('The name to publish under; can include folders. Default: the name of the file.'),
});
type Input = z.infer<typeof input>;

/** Copies a file of the workspace into the conversation's artifacts; images are shown in the thread. */
export function publishTool(deps: PublishDeps, turn: WorkspaceTurn, owner: Owner): Tool {
  return defineTool({
    name: 'publish_artifact',
    description,
    input,
    effect: 'writes',
    run: (given, { signal }) => turn.use(signal, (daemon, own) => publish(deps, daemon, given, owner, own)),
  });
}

async function publish(
  deps: PublishDeps,
  daemon: Daemon,
  { path: asked, name }: Input,
  { userId, chatId }: Owner,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const query = `path=${encodeURIComponent(asked)}`;
  const { entry } = await daemon.call(`/v1/files/stat?${query}`, z.object({ entry: workspaceEntry }), { signal });
  if (entry.type === 'directory')
    throw new ToolFailure(`${entry.path} is a folder. Make a .zip of it and publish that.`);
  const path = parsePath(name ?? basename(entry.path), 'name');
  const { artifactMaxUploadBytes: limit } = await readOperation(deps);
  if (entry.size > limit) throw tooLarge(limit);
  const answer = await daemon.request(`/v1/files/content?${query}`, { signal });
  const head: Uint8Array[] = [];
  const stored = await deps.artifactStore.put(bounded(answer, limit, head, signal));
  const upload = { scope: { chatId }, path, onConflict: 'replace' as const, filename: undefined, mediaType: undefined };
  const artifact = await createArtifact(deps, userId, upload, stored);
  const url = `artifact://${artifact.id}`;
  const filename = filenameOf(path);
  const mediaType = sniffImage(Buffer.concat(head));
  const files: FilePart[] = mediaType === undefined ? [] : [{ type: 'file', mediaType, filename, url }];
  const link = `[${filename.replace(/[[\]\\]/g, '\\$&')}](${url})`;
  return new ToolAnswer({ id: artifact.id, path, size: stored.size, version: artifact.version, link }, files);
}

/** Streams the bytes of the file up to the maximum size of an artifact, and copies the beginning into `head`. */
async function* bounded(
  { status, body }: DaemonResponse,
  limit: number,
  head: Uint8Array[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    if (status !== 200) throw new ApiError('not_found', 'The file cannot be read');
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      if (size < 16) head.push(Uint8Array.from(chunk.subarray(0, 16)));
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      yield chunk;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) throw error;
    throw new ApiError('workspace_request_failed', 'The workspace failed while the file was read', { cause: error });
  } finally {
    body.destroy();
  }
}

function tooLarge(limit: number): ApiError {
  return new ApiError('payload_too_large', `The file is larger than the artifact limit (${limit} bytes)`);
}
