import { parseForeignJson } from '../platform/json/json-scan.ts';
import { mcpBounds } from './bounds.ts';

/** A file that a tool returned, as a part of the answer: its bytes are in the `data:` URL, nothing is fetched. */
type ResultFile = { type: 'file'; mediaType: string; url: string; filename?: string };

/**
 * The result of a call: `output` for the model, and `whole` when that was cut; files for the person; or the server's
 * message that it failed.
 */
export type McpResult = { output: unknown; files: ResultFile[]; whole?: string } | { errorText: string };

type Reading = { texts: string[]; files: ResultFile[]; data: number };

/**
 * Reads a tool call's result (MCP "CallToolResult"). Text and structured content go to the model; images, audio and
 * embedded files become file parts if small enough; links are passed on as links and never followed.
 */
export function readResult(result: unknown): McpResult {
  if (!isRecord(result)) return { errorText: 'The MCP server sent a response that cannot be read.' };
  const reading: Reading = { texts: [], files: [], data: 0 };
  for (const block of Array.isArray(result.content) ? result.content.slice(0, mcpBounds.blocks) : [])
    readBlock(block, reading);
  const whole = reading.texts.join('\n');
  const text = cut(whole);
  const structured = result.structuredContent;
  if (result.isError === true) return { errorText: failureText(text, structured) };
  if (structured === undefined || structured === null) return withWhole({ output: text, files: reading.files }, whole);
  const json = JSON.stringify(structured);
  if (json.length > mcpBounds.resultText)
    return { output: cut(json), files: reading.files, whole: JSON.stringify(structured, null, 1) };
  const output = text === '' || isSameJson(text, structured) ? structured : { text, structuredContent: structured };
  return { output, files: reading.files };
}

/** The server's own words: its text, and structured content that says more. */
function failureText(text: string, structured: unknown): string {
  const isMore = structured !== undefined && structured !== null && !isSameJson(text, structured);
  const parts = [text, isMore ? JSON.stringify(structured) : ''].filter((part) => part !== '');
  return parts.length === 0 ? 'The tool failed without an explanation.' : cut(parts.join('\n'));
}

function withWhole(result: { output: string; files: ResultFile[] }, whole: string): McpResult {
  return whole.length > mcpBounds.resultText ? { ...result, whole } : result;
}

function readBlock(block: unknown, reading: Reading): void {
  if (!isRecord(block)) return;
  const { type } = block;
  if (type === 'text' && typeof block.text === 'string') reading.texts.push(block.text);
  else if (type === 'image' || type === 'audio') addFile(reading, type, block.mimeType, block.data, undefined);
  else if (type === 'resource_link') reading.texts.push(linkText(block));
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
  if (!fits || reading.files.length >= mcpBounds.files) {
    reading.texts.push(`[A file (${mediaType}, ${kilobytes(data)} kB) was left out: it is too large]`);
    return;
  }
  reading.data += data.length;
  const url = `data:${mediaType};base64,${data}`;
  reading.files.push({ type: 'file', mediaType, url, ...(filename === undefined ? {} : { filename }) });
  reading.texts.push(`[A file (${mediaType}, ${kilobytes(data)} kB) is shown to the person]`);
}

function linkText(block: Record<string, unknown>): string {
  const description = textOf(block.description);
  return `[Link ${textOf(block.title) || textOf(block.name)}: ${textOf(block.uri)}]${description === '' ? '' : ` ${description}`}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 2048) : '';
}

export function isBase64(data: string): boolean {
  return data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
}

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
