import { ApiError } from '@homeport/contracts/errors';
import { type ImageType, sniffImage } from '@homeport/contracts/files/image-bytes';
import type { Daemon } from '../../../workspaces/daemon.ts';

/** The largest picture that a model is shown. */
const maxBytes = 8 * 1024 * 1024;
const headBytes = 16;

/** A picture in the workspace as a `data:` URL; undefined for other files, and for one that is too large. */
export async function readPicture(
  daemon: Daemon,
  path: string,
  size: number,
  signal: AbortSignal,
): Promise<{ mediaType: ImageType; url: string } | undefined> {
  if (size > maxBytes) return undefined;
  const { status, body } = await daemon.request(`/v1/files/content?path=${encodeURIComponent(path)}`, { signal });
  const chunks: Uint8Array[] = [];
  let read = 0;
  try {
    if (status !== 200) return undefined;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      chunks.push(Uint8Array.from(chunk));
      read += chunk.length;
      if (read > maxBytes || (read >= headBytes && chunks.length === 1 && sniffImage(chunk) === undefined)) {
        return undefined;
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new ApiError('workspace_request_failed', 'The workspace failed while the file was read', { cause: error });
  } finally {
    body.destroy();
  }
  const bytes = Buffer.concat(chunks);
  const mediaType = sniffImage(bytes);
  return mediaType === undefined
    ? undefined
    : { mediaType, url: `data:${mediaType};base64,${bytes.toString('base64')}` };
}
