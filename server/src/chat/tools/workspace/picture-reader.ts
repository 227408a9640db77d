import { ApiError } from '@homeport/contracts/errors';
import { type PictureType, pictureType } from '../../../artifacts/pictures/picture-head.ts';
import { pictureSourceMax } from '../../../artifacts/pictures/pictures.ts';
import type { Daemon } from '../../../workspaces/daemon.ts';

const headBytes = 32;

/** A picture in the workspace; undefined for other files, and for one that is too large. */
export async function readPicture(
  daemon: Daemon,
  path: string,
  size: number,
  signal: AbortSignal,
): Promise<{ type: PictureType; bytes: Buffer } | undefined> {
  if (size > pictureSourceMax) return undefined;
  const { status, body } = await daemon.request(`/v1/files/content?path=${encodeURIComponent(path)}`, { signal });
  const chunks: Uint8Array[] = [];
  let read = 0;
  try {
    if (status !== 200) return undefined;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      chunks.push(Uint8Array.from(chunk));
      read += chunk.length;
      const isOther = read >= headBytes && chunks.length === 1 && pictureType(Buffer.from(chunk)) === undefined;
      if (read > pictureSourceMax || isOther) return undefined;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new ApiError('workspace_request_failed', 'The workspace failed while the file was read', { cause: error });
  } finally {
    body.destroy();
  }
  const bytes = Buffer.concat(chunks);
  const type = pictureType(bytes);
  return type === undefined ? undefined : { type, bytes };
}
