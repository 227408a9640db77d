import type { FilePart } from '@homeport/contracts/chat/frames';
import type { AttachedFile } from '../../artifacts/attachments.ts';
import { decodeText, isMarkedUp } from '../../artifacts/media-type.ts';
import { pictureType } from '../../artifacts/pictures/picture-head.ts';
import type { Pictures } from '../../artifacts/pictures/pictures.ts';
import { readPages } from '../../documents/document-store.ts';
import type { Documents } from '../../documents/documents.ts';
import { mcpBounds } from '../../mcp/bounds.ts';
import type { McpResult } from '../../mcp/tool-result.ts';
import { type FileOwner, type FileStoreDeps, type NewFile, storeFile } from './stored-file.ts';
import { ToolAnswer } from './tool-run.ts';

/** Files in the results of MCP tools: pictures for a model that sees, documents as text, and all of them as files. */

export type McpFileDeps = FileStoreDeps & { documents: Documents; pictures: Pictures };

type Returned = Exclude<McpResult, { errorText: string }>;
/** A file of a result; `part` if it is small enough to be kept in the answer itself. */
type ReturnedFile = NewFile & { part?: FilePart };
type Read = { parts: FilePart[]; pictures: string[]; texts: string[] };

const readWaitMs = 60_000;
/** Characters of a document that are read. */
const documentText = 4 * 1024 * 1024;

/** The result with its files read. One that cannot be stored or read is named, and the call still succeeds. */
export async function answerWithFiles(
  deps: McpFileDeps,
  owner: FileOwner,
  { output, files, large = [], whole }: Returned,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const returned = [...files.map(smallFile), ...large];
  if (returned.length === 0) return new ToolAnswer(output, [], whole);
  const read: Read = { parts: [], pictures: [], texts: [] };
  for (const file of returned) {
    signal.throwIfAborted();
    await readFile(deps, owner, file, read, signal);
  }
  const { parts, pictures, texts } = read;
  if (texts.length === 0) return new ToolAnswer(output, parts, whole, pictures);
  const added = texts.join('\n\n');
  if (typeof output !== 'string') return new ToolAnswer({ result: output, files: cut(added) }, parts, whole, pictures);
  const all = `${whole ?? output}\n\n${added}`;
  return new ToolAnswer(cut(all), parts, all.length > mcpBounds.resultText ? all : undefined, pictures);
}

function smallFile(part: FilePart): ReturnedFile {
  const bytes = Buffer.from(part.url.slice(part.url.indexOf(',') + 1), 'base64');
  return { mediaType: part.mediaType, filename: part.filename, bytes, part };
}

async function readFile(
  deps: McpFileDeps,
  owner: FileOwner,
  file: ReturnedFile,
  read: Read,
  signal: AbortSignal,
): Promise<void> {
  const { bytes, part, filename = 'file' } = file;
  const picture = pictureType(bytes);
  const text = isMarkedUp(bytes) ? undefined : decodeText(bytes, false);
  const isPlain = picture === undefined && text !== undefined && text !== '';
  if (picture !== undefined) {
    const shown = await deps.pictures.forModel({ type: picture, bytes }, owner.owner_id, signal);
    if ('reason' in shown) read.texts.push(`[The picture ${filename} is not included: ${shown.reason}]`);
    else read.pictures.push(`data:${shown.mediaType};base64,${shown.bytes.toString('base64')}`);
  }
  if (isPlain) read.texts.push(`[File ${filename}]\n${text}`);
  const isDocument = picture === undefined && !isPlain && !/^(?:audio|image|video)\//.test(file.mediaType);
  if (part !== undefined && !isDocument) {
    read.parts.push({ ...part, mediaType: picture ?? part.mediaType });
    return;
  }
  try {
    const stored = await storeFile(deps, owner, { ...file, mediaType: picture ?? file.mediaType });
    read.parts.push(stored.part);
    if (isDocument) read.texts.push(await documentOf(deps, owner, stored.file, signal));
  } catch (error) {
    signal.throwIfAborted();
    deps.log.warn({ cause: error, chatId: owner.chat_id }, 'failed to store a file of a tool');
    if (part !== undefined) read.parts.push(part);
    read.texts.push(`[The file ${filename} could not be stored]`);
  }
}

async function documentOf(
  { db, documents }: McpFileDeps,
  { owner_id: userId }: FileOwner,
  file: AttachedFile,
  signal: AbortSignal,
): Promise<string> {
  const known = await documents.read(file, userId, readWaitMs, signal);
  if (known.state === 'failed') return `[The text of ${file.name} cannot be read: ${known.problem.message}]`;
  if (known.state === 'working') return `[${file.name} is still being read; its id is ${file.id}]`;
  const pages = await readPages(db.kysely, file.sha256, 1, known.pages);
  const text = pages.map(({ label, text }) => (pages.length === 1 ? text : `[${label}]\n${text}`)).join('\n\n');
  return `[File ${file.name}, id ${file.id}]\n${text.slice(0, documentText).toWellFormed()}`;
}

function cut(text: string): string {
  const limit = mcpBounds.resultText;
  return text.length <= limit ? text : `${text.slice(0, limit)}\n[Cut: ${limit} of ${text.length} characters]`;
}
