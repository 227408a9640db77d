import { sniffImage } from '@homeport/contracts/files/image-bytes';
import { parseForeignJson } from '../platform/json/json-scan.ts';
import { mcpBounds } from './bounds.ts';

/** A file that a tool returned, as a part of the answer: its bytes are in the `data:` URL, nothing is fetched. */
type ResultFile = { type: 'file'; mediaType: string; url: string; filename?: string };

/** A file that is too large to be a part of the answer itself. */
type LargeFile = { mediaType: string; bytes: Buffer; filename: string | undefined };

/**
 * The result of a call: `output` for the model, and `whole` when that was cut; files; addresses that it links to; or
 * the server's message that it failed.
 */
export type McpResult =
  | { output: unknown; files: ResultFile[]; large?: LargeFile[]; links?: string[]; whole?: string }
  | { errorText: string };

type Reading = {
  texts: string[];
  files: ResultFile[];
  data: number;
  large: LargeFile[];
  largeBytes: number;
  links: string[];
};

/**
 * Reads a tool call's result (MCP "CallToolResult"). Text and structured content go to the model; images, audio and
 * embedded files become file parts if small enough; links are passed on as links and never followed.
 */
export function readResult(result: unknown): McpResult {
  if (!isRecord(result)) return { errorText: 'The MCP server sent a response that cannot be read.' };
  const reading: Reading = { texts: [], files: [], data: 0, large: [], largeBytes: 0, links: [] };
  for (const block of Array.isArray(result.content) ? result.content.slice(0, mcpBounds.blocks) : [])
    readBlock(block, reading);
  const whole = reading.texts.join('\n');
  const text = cut(whole);
  const structured = result.structuredContent;
  if (result.isError === true) return { errorText: failureText(text, structured) };
  if (structured === undefined || structured === null) return withWhole({ output: text, ...found(reading) }, whole);
  const json = JSON.stringify(structured);
  if (json.length > mcpBounds.resultText)
    return { output: cut(json), ...found(reading), whole: JSON.stringify(structured, null, 1) };
  const output = text === '' || isSameJson(text, structured) ? structured : { text, structuredContent: structured };
  return { output, ...found(reading) };
}

function found({ files, large, links }: Reading): Pick<Readable, 'files' | 'large' | 'links'> {
  return { files, ...(large.length === 0 ? {} : { large }), ...(links.length === 0 ? {} : { links }) };
}

type Readable = Exclude<McpResult, { errorText: string }>;

/** The server's own words: its text, and structured content that says more. */
function failureText(text: string, structured: unknown): string {
  const isMore = structured !== undefined && structured !== null && !isSameJson(text, structured);
  const parts = [text, isMore ? JSON.stringify(structured) : ''].filter((part) => part !== '');
  return parts.length === 0 ? 'The tool failed without an explanation.' : cut(parts.join('\n'));
}

function withWhole(result: Readable, whole: string): McpResult {
  return whole.length > mcpBounds.resultText ? { ...result, whole } : result;
}

function readBlock(block: unknown, reading: Reading): void {
  if (!isRecord(block)) return;
  const { type } = block;
  if (type === 'text' && typeof block.text === 'string') reading.texts.push(block.text);
  else if (type === 'image' || type === 'audio') addFile(reading, type, block.mimeType, block.data, undefined);
  else if (type === 'resource_link') addLink(reading, block);
  else if (type === 'resource' && isRecord(block.resource)) readResource(block.resource, reading);
  else reading.texts.push('[The tool returned content of an unknown type]');
}

function readResource(resource: Record<string, unknown>, reading: Reading): void {
  const uri = textOf(resource.uri);
  if (typeof resource.text === 'string') {
    reading.texts.push(`[Resource ${uri}]\n${resource.text}`);
    return;
  }
  const filename = uri
    .split(/[/?#]/)
    .findLast((piece) => piece !== '')
    ?.slice(0, 200);
  addFile(reading, `resource ${uri}`, resource.mimeType ?? 'application/octet-stream', resource.blob, filename);
}

function addFile(reading: Reading, what: string, type: unknown, data: unknown, filename: string | undefined): void {
  const mediaType =
    typeof type === 'string' && /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? type.toLowerCase() : undefined;
  if (mediaType === undefined || typeof data !== 'string' || !isBase64(data)) {
    reading.texts.push(`[An unreadable ${what} was left out]`);
    return;
  }
  const fits = data.length <= mcpBounds.fileData && reading.data + data.length <= mcpBounds.filesData;
  if (
    reading.files.length + reading.large.length >= mcpBounds.files ||
    (!fits && !addLarge(reading, { mediaType, data, filename }))
  ) {
    reading.texts.push(`[A file (${mediaType}, ${kilobytes(data)} kB) was left out: it is too large]`);
    return;
  }
  if (!fits) {
    reading.texts.push(`[A file (${mediaType}, ${kilobytes(data)} kB) is shown to the person]`);
    return;
  }
  reading.data += data.length;
  const url = `data:${mediaType};base64,${data}`;
  reading.files.push({ type: 'file', mediaType, url, ...(filename === undefined ? {} : { filename }) });
  reading.texts.push(`[A file (${mediaType}, ${kilobytes(data)} kB) is shown to the person]`);
}

/** False for what is too large, or is no picture although its block says so. */
function addLarge(
  reading: Reading,
  { mediaType, data, filename }: { mediaType: string; data: string; filename: string | undefined },
): boolean {
  const picture = sniffImage(Buffer.from(data.slice(0, 64), 'base64'));
  const size = Math.floor((data.length * 3) / 4);
  const fits = size <= mcpBounds.largeFile && reading.largeBytes + size <= mcpBounds.largeFiles;
  if (!fits || (mediaType.startsWith('image/') && picture === undefined)) return false;
  const bytes = Buffer.from(data, 'base64');
  reading.largeBytes += bytes.length;
  reading.large.push({ mediaType: picture ?? mediaType, bytes, filename: filename ?? nameOf(picture ?? mediaType) });
  return true;
}

function nameOf(mediaType: string): string {
  return mediaType.startsWith('image/') ? `picture.${mediaType.slice('image/'.length)}` : 'file';
}

function addLink(reading: Reading, block: Record<string, unknown>): void {
  reading.texts.push(linkText(block));
  const uri = textOf(block.uri);
  if (uri !== '' && reading.links.length < mcpBounds.links) reading.links.push(uri);
}

function linkText(block: Record<string, unknown>): string {
  const description = textOf(block.description);
  return `[Link ${textOf(block.title) || textOf(block.name)}: ${textOf(block.uri)}]${description === '' ? '' : ` ${description}`}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 2048) : '';
}

function isBase64(data: string): boolean {
  if (data.length % 4 !== 0) return false;
  const end = data.endsWith('==') ? data.length - 2 : data.endsWith('=') ? data.length - 1 : data.length;
  // In pieces: a pattern on many megabytes runs out of its stack.
  for (let at = 0; at < end; at += pieceLength) {
    if (!/^[A-Za-z0-9+/]*$/.test(data.slice(at, Math.min(at + pieceLength, end)))) return false;
  }
  return true;
}

const pieceLength = 64 * 1024;

/**
 * Base64 as RFC 4648 section 4 has it. Servers also write it with line breaks (RFC 2045), without padding, in the
 * alphabet for addresses, or as a `data:` URL. Undefined for anything else.
 */
export function plainBase64(data: unknown): string | undefined {
  if (typeof data !== 'string') return undefined;
  const start = data.startsWith('data:') ? data.slice(0, 200).indexOf(';base64,') + ';base64,'.length : 0;
  const compact = data.slice(start).replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/');
  const bare = compact.endsWith('=') ? compact.slice(0, compact.indexOf('=', compact.length - 2)) : compact;
  const padded = bare.padEnd(Math.ceil(bare.length / 4) * 4, '=');
  return bare.length % 4 !== 1 && isBase64(padded) ? padded : undefined;
}

/** First characters of files in base64, by their kind. */
const beginnings: Readonly<Record<string, string>> = {
  iVBORw0KGgo: 'image/png',
  '/9j/': 'image/jpeg',
  R0lGOD: 'image/gif',
  UklGR: 'image/webp',
};

/** A media type without parameters; one that is missing follows from the `data:` URL or the bytes of a picture. */
export function plainMediaType(type: unknown, data: unknown): string | undefined {
  const stated = typeof type === 'string' ? (type.split(';')[0] ?? '').trim().toLowerCase() : '';
  if (stated !== '') return stated;
  if (typeof data !== 'string') return undefined;
  const [, named] = /^data:([\w.+-]+\/[\w.+-]+)[;,]/.exec(data.slice(0, 200)) ?? [];
  if (named !== undefined) return named.toLowerCase();
  return Object.entries(beginnings).find(([start]) => data.startsWith(start))?.[1];
}

function kilobytes(data: string): number {
  return Math.ceil((data.length * 3) / 4 / 1000);
}

function isSameJson(text: string, structured: unknown): boolean {
  try {
    return JSON.stringify(parseForeignJson(text)) === JSON.stringify(structured);
  } catch {
    return false;
  }
}

function cut(text: string): string {
  const limit = mcpBounds.resultText;
  return text.length <= limit ? text : `${text.slice(0, limit)}\n[Cut: ${limit} of ${text.length} characters]`;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
