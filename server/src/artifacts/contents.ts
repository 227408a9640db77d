import { sniffImage } from '@homeport/contracts/files/image-bytes';
import type { Platform } from '../platform.ts';
import { type ArtifactRow, artifactNotFound } from './artifacts.ts';
import type { BlobStore, TakeBytes } from './blob-store.ts';
import { findBlobKey } from './blobs.ts';
import { decodeText, isPdf } from './media-type.ts';

/** Bytes of artifacts, and their previews. */

type Needs = Pick<Platform, 'db'> & { artifactStore: BlobStore };

/** How many bytes of a text a preview shows (contract.md section 8). */
const previewBytes = 256 * 1024;

/** Throws `not_found` if the artifact has been deleted in the meantime, even while its bytes were being opened. */
export async function readContent(
  deps: Needs,
  row: Pick<ArtifactRow, 'sha256'>,
  range: { start: number; end: number },
  take: TakeBytes,
): Promise<void> {
  const { kysely } = deps.db;
  const key = await findBlobKey(kysely, row.sha256);
  if (key === undefined) throw artifactNotFound();
  try {
    await deps.artifactStore.read(key, range, take);
  } catch (error) {
    const isDeleted = (await findBlobKey(kysely, row.sha256).catch(() => key)) === undefined;
    throw isDeleted ? artifactNotFound() : error;
  }
}

/** The first bytes of an artifact, at most `count`. */
export async function readHead(
  deps: Needs,
  row: Pick<ArtifactRow, 'sha256' | 'size'>,
  count: number,
  signal?: AbortSignal,
): Promise<Buffer> {
  const wanted = Math.min(count, row.size);
  if (wanted === 0) return Buffer.alloc(0);
  const chunks: Buffer[] = [];
  await readContent(deps, row, { start: 0, end: wanted - 1 }, async (chunk) => {
    signal?.throwIfAborted();
    chunks.push(Buffer.from(chunk));
  });
  return Buffer.concat(chunks);
}

/** Preview of a file: text in part, pictures and PDF whole. The bytes decide `type`, not the record. */
export type Preview =
  | { kind: 'text'; type: 'text/plain; charset=utf-8' | 'text/csv; charset=utf-8'; text: string; isCut: boolean }
  | { kind: 'file'; type: string };

/** Undefined if there is no preview. */
export async function previewOf(deps: Needs, row: ArtifactRow): Promise<Preview | undefined> {
  const head = await readHead(deps, row, previewBytes);
  const type = sniffImage(head) ?? (isPdf(head) ? 'application/pdf' : undefined);
  if (type !== undefined) return { kind: 'file', type };
  const isCut = row.size > head.length;
  const text = decodeText(head, isCut);
  if (text === undefined) return undefined;
  const isTable = row.media_type === 'text/csv';
  return { kind: 'text', type: isTable ? 'text/csv; charset=utf-8' : 'text/plain; charset=utf-8', text, isCut };
}
