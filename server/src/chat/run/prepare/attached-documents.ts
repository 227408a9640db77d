import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { AttachedFile } from '../../../artifacts/attachments.ts';
import type { BlobStore } from '../../../artifacts/blob-store.ts';
import { readHead } from '../../../artifacts/contents.ts';
import { type DocumentInfo, readPages } from '../../../documents/document-store.ts';
import type { Documents } from '../../../documents/documents.ts';
import type { Platform } from '../../../platform.ts';
import type { ContentPart } from '../../model/provider-messages.ts';

/**
 * Documents attached to a message, as text for the model: whole where they fit, else announced with the tools that read
 * them.
 */

type Needs = Pick<Platform, 'db'> & { documents: Documents };

/** Tokens that all documents of a turn may take; one of them takes at most half of it. */
export type DocumentRoom = { left: number; perFile: number; takesPdf: boolean };

const windowShare = 1 / 2;
const fileShare = 1 / 4;
const readWaitMs = 60_000;
const readMs = 10_000;

/** Protocols in which a model reads a PDF itself. */
export const takesPdf: Record<ProviderKind, boolean> = {
  openai: false,
  'openai-responses': true,
  anthropic: true,
  gemini: true,
};

/** Room for documents in a turn; `room`: tokens that the turn can send, `takesPdf`: the model reads a PDF itself. */
export function documentRoom(room: number, takesPdf: boolean): DocumentRoom {
  return { left: room * windowShare, perFile: room * fileShare, takesPdf };
}

/** An attached document, and the person in whose turn it is read. */
type Attached = { file: AttachedFile; userId: string };

/** Room for a summary: nothing is extracted, and documents already extracted are only named. */
export function noDocumentRoom(): DocumentRoom {
  return { left: 0, perFile: 0, takesPdf: false };
}

/**
 * Returns the text that replaces the document, and subtracts its size from `room`. Undefined when no text can be
 * extracted and `isText`: the caller then shows the beginning of the file.
 */
export async function documentText(
  deps: Needs,
  { file, userId }: Attached,
  room: DocumentRoom,
  signal: AbortSignal,
  isText = false,
): Promise<string | undefined> {
  const known = await deps.documents.read(file, userId, room.perFile > 0 ? readWaitMs : 0, signal);
  if (known.state === 'failed') return isText ? undefined : notIncluded(file, known.problem.message);
  if (known.state === 'working') return notIncluded(file, `it is still being read. ${howToRead(file)}`);
  if (known.tokens > Math.min(room.left, room.perFile)) return tooLong(file, known);
  room.left -= known.tokens;
  const pages = await readPages(deps.db.kysely, file.sha256, 1, known.pages);
  const [only] = pages;
  if (only === undefined) return undefined;
  const head = `[File ${file.name}${pages.length === 1 ? '' : `, ${pages.length} pages`}]`;
  const body = pages.length === 1 ? only.text : pages.map(({ label, text }) => `[${label}]\n${text}`).join('\n\n');
  const notes = known.warnings.map(({ message }) => `\n[${file.name}: ${message}]`);
  return `${head}\n${body}${notes.join('')}`;
}

/** Bytes of a document that goes as it is. */
const nativeMax = 10 * 1024 * 1024;

/** A PDF without text as it is, for a model that reads its pages itself; undefined for any other file. */
export async function scannedPdf(
  deps: Needs & Pick<Platform, 'log'> & { artifactStore: BlobStore },
  { file, userId }: Attached,
  room: DocumentRoom & { bytes: number },
  signal: AbortSignal,
): Promise<{ part: ContentPart; bytes: number } | undefined> {
  const { mediaType, size } = file;
  if (!room.takesPdf || mediaType !== 'application/pdf' || size > Math.min(nativeMax, room.bytes)) return undefined;
  const known = await deps.documents.read(file, userId, room.perFile > 0 ? readWaitMs : 0, signal);
  if (known.state !== 'failed' || known.problem.code !== 'no_text') return undefined;
  try {
    const content = await readHead(deps, file, size, AbortSignal.any([signal, AbortSignal.timeout(readMs)]));
    const url = `data:application/pdf;base64,${content.toString('base64')}`;
    return { part: { type: 'file', file: { filename: file.name, file_data: url } }, bytes: content.length };
  } catch (error) {
    signal.throwIfAborted();
    deps.log.warn({ cause: error }, 'failed to read an attached document');
    return undefined;
  }
}

function notIncluded({ name, mediaType }: AttachedFile, reason: string): string {
  return `[File ${name} (${mediaType}) is not included: ${reason}]`;
}

function tooLong(file: AttachedFile, { pages, tokens }: DocumentInfo & { state: 'ready' }): string {
  const size = `${pages} ${pages === 1 ? 'page' : 'pages'}, about ${tokens} tokens`;
  return notIncluded(file, `it is too long (${size}). ${howToRead(file)}`);
}

function howToRead({ id }: AttachedFile): string {
  return `Use search_documents and read_document; its id is ${id}`;
}
