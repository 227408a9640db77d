import { limits } from '@homeport/contracts/limits';
import { mcpBounds } from '../bounds.ts';
import { isRecord, plainBase64, plainMediaType } from '../tool-result.ts';

/**
 * Reduces a server's messages before the protocol's library validates them. The library checks every entry and explains
 * each unknown one, which takes seconds for a message of a hundred kilobytes. Unused entries are dropped here, and
 * unknown ones replaced by their type.
 */

/** How many entries of each list of a result are used. */
const listed: Record<string, number> = {
  content: mcpBounds.blocks,
  contents: mcpBounds.files,
  messages: mcpBounds.promptMessages,
  // One more tells that there are too many.
  tools: mcpBounds.tools + 1,
  resources: limits.mcpListed,
  resourceTemplates: limits.mcpListed,
  prompts: limits.mcpListed,
};
/** Members of anything in a question or an entry of a list: more than any that we accept. */
const membersMax = limits.elicitationChoices + 1;

/** Changes the message in place. Returns why nothing more is expected from this server, if it is so. */
export function makePlain(message: object): string | undefined {
  if ('method' in message) {
    if (message.method === 'elicitation/create' && 'params' in message) plainQuestion(message.params);
    return undefined;
  }
  const result = 'result' in message ? message.result : undefined;
  if (!isRecord(result)) return undefined;
  if ('protocolVersion' in result) plainHandshake(result);
  plainResult(result);
  for (const [member, most] of Object.entries(listed)) {
    const list = result[member];
    if (Array.isArray(list)) result[member] = list.slice(0, most).map((entry) => plainEntry(member, entry));
  }
  const { inputRequests } = result;
  if (!isRecord(inputRequests)) return undefined;
  const asked = Object.values(inputRequests);
  if (asked.length > mcpBounds.elicitations) return 'it asked for too much at once';
  for (const each of asked) if (isRecord(each)) plainQuestion(each.params);
  return undefined;
}

/** Members whose null means that they are absent. */
const oftenNull = ['nextCursor', '_meta', 'structuredContent', 'isError', 'toolResult', 'tools'];

/** A tool's result as the protocol has it: servers also send plain texts, single blocks and other structured values. */
function plainResult(result: Record<string, unknown>): void {
  if (result.content === null) result.content = [];
  if (result.tools === null) result.tools = [];
  for (const name of oftenNull) if (result[name] === null) delete result[name];
  const { content, toolResult, structuredContent, isError } = result;
  if (typeof content === 'string' || isRecord(content)) result.content = [content];
  if (typeof isError === 'string') result.isError = isError.toLowerCase() === 'true';
  // The protocol version 2024-10-07 has this member in place of content.
  if (toolResult !== undefined && content === undefined) {
    result.content = [textBlock(wordsOf(toolResult))];
    delete result.toolResult;
  }
  if (structuredContent === undefined || isRecord(structuredContent)) return;
  delete result.structuredContent;
  const blocks: unknown[] = Array.isArray(result.content) ? result.content : [];
  const forms = [wordsOf(structuredContent), JSON.stringify(structuredContent, null, 2)];
  const isSaid = blocks.some(
    (block) => isRecord(block) && typeof block.text === 'string' && forms.includes(block.text),
  );
  if (!isSaid) result.content = [...blocks, textBlock(wordsOf(structuredContent))];
}

function wordsOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Some servers write null for absent members of the handshake, or no version of their own. */
function plainHandshake(result: Record<string, unknown>): void {
  dropNulls(result);
  const { capabilities, serverInfo } = result;
  for (const part of [capabilities, ...(isRecord(capabilities) ? Object.values(capabilities) : []), serverInfo]) {
    if (isRecord(part)) dropNulls(part);
  }
  result.capabilities ??= {};
  result.serverInfo ??= {};
  if (!isRecord(result.serverInfo)) return;
  result.serverInfo.name ??= '';
  result.serverInfo.version ??= '';
}

function dropNulls(record: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(record)) if (value === null) delete record[name];
}

function plainEntry(member: string, entry: unknown): unknown {
  if (member === 'content') return plainBlock(entry);
  if (!isRecord(entry)) return entry;
  if (member === 'tools') {
    const { icons: _icons, _meta, ...tool } = entry;
    return tool;
  }
  return member === 'contents' || member === 'messages' ? entry : few(entry);
}

function plainQuestion(params: unknown): void {
  if (isRecord(params) && 'requestedSchema' in params) params.requestedSchema = few(params.requestedSchema);
}

/** The same with few members at each level. */
function few(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, membersMax).map(few);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).slice(0, membersMax);
  return Object.fromEntries(entries.map(([name, each]) => [name, few(each)]));
}

/** A block of a tool's result with the members that are used. */
function plainBlock(block: unknown): Record<string, unknown> {
  if (typeof block === 'string') return textBlock(block);
  if (!isRecord(block)) return unknownBlock();
  const { type, text, resource } = block;
  if (type === 'text' && 'text' in block) return { type, text: text === null ? '' : wordsOf(text) };
  if (type === 'json') return textBlock(wordsOf(block.json ?? block.data ?? null));
  if (type === 'image' || type === 'audio') {
    const mimeType = plainMediaType(block.mimeType, block.data);
    const data = plainBase64(block.data);
    const isFile = mimeType !== undefined && data !== undefined;
    return isFile ? { type, mimeType, data } : textBlock(`[An unreadable ${type} was left out]`);
  }
  if (type === 'resource_link') {
    const { name, title, description, uri } = block;
    return { type, name: textOf(name), title: textOf(title), description: textOf(description), uri: textOf(uri) };
  }
  if (type !== 'resource' || !isRecord(resource)) return unknownBlock();
  const uri = textOf(resource.uri);
  if (typeof resource.text === 'string') return { type, resource: { uri, text: resource.text } };
  const mimeType = plainMediaType(resource.mimeType, resource.blob) ?? 'application/octet-stream';
  const blob = plainBase64(resource.blob);
  return blob === undefined
    ? textBlock(`[An unreadable resource ${uri} was left out]`)
    : { type, resource: { uri, mimeType, blob } };
}

function unknownBlock(): Record<string, unknown> {
  return textBlock('[The tool returned content of an unknown type]');
}

function textBlock(text: string): Record<string, unknown> {
  return { type: 'text', text };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
