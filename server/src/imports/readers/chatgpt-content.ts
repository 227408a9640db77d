import type { ArchiveFiles, FileList } from './archive-files.ts';
import { type Piece, reasoningPiece, textPiece } from './pieces.ts';
import { items, jsonOrText, link, type Members, members, name, text } from './values.ts';

/** The content of one ChatGPT message, by its content type. */

type Context = { id: string; files: FileList; archive: ArchiveFiles; createdAt: string | null };

export function contentOf(message: Members, context: Context): Piece[] {
  const role = text(members(message.author).role);
  const shown = role === 'tool' ? toolResult(message, context) : ownContent(message, role, context);
  return [...shown, ...attachments(message, shown, context)];
}

function ownContent(message: Members, role: string, context: Context): Piece[] {
  const content = members(message.content);
  const type = text(content.content_type);
  const recipient = text(message.recipient) || 'all';
  if (type === 'thoughts') return items(content.thoughts).flatMap(thought);
  if (type === 'reasoning_recap') return [];
  if (role === 'assistant' && (recipient !== 'all' || (type === 'code' && recipient === 'all' && isCall(content)))) {
    return toolCall(recipient, content, context);
  }
  if (type === 'code') return textPiece(fence(text(content.text), text(content.language)));
  if (type === 'multimodal_text') return items(content.parts).flatMap((part) => partPieces(part, message, context));
  if (type === 'tether_quote') return textPiece(quotation(content));
  const own = items(content.parts).flatMap((part) => (typeof part === 'string' ? [text(part)] : []));
  const rendered = withLinks(own.length > 0 ? own.join('\n\n') : text(content.text) || text(content.result), message);
  return message.channel === 'analysis' ? reasoningPiece(rendered) : textPiece(rendered);
}

const isCall = (content: Members): boolean =>
  /^(search|browse|open_url|click|mclick|scroll)\(/.test(text(content.text));

function thought(value: unknown): Piece[] {
  const { summary, content } = members(value);
  const [heading, body] = [text(summary).trim(), text(content).trim()];
  return reasoningPiece(heading === '' ? body : `**${heading}**\n\n${body}`.trim());
}

function toolCall(recipient: string, content: Members, context: Context): Piece[] {
  const rendered = text(content.text) || items(content.parts).map(text).join('\n');
  const input = jsonOrText(rendered);
  const call: Piece = {
    type: 'call',
    callId: context.id,
    name: recipient === 'all' ? 'browser' : recipient,
    input: typeof input === 'string' ? { code: input } : input,
  };
  const document = members(input);
  if (recipient !== 'canmore.create_textdoc' || text(document.content) === '') return [call];
  const filename = `${name(document.name) ?? 'document'}.md`;
  return [call, ...context.files.addText(`canvas:${context.id}`, filename, text(document.content), context.createdAt)];
}

function toolResult(message: Members, context: Context): Piece[] {
  const content = members(message.content);
  const type = text(content.content_type);
  const author = name(members(message.author).name) ?? 'tool';
  const parts = items(content.parts);
  const pictures = [
    ...parts.filter((part) => typeof part === 'object'),
    ...items(members(members(message.metadata).aggregate_result).messages).flatMap(pictureOf),
  ].flatMap((part) => partPieces(part, message, context));
  const rendered = type === 'tether_quote' ? quotation(content) : parts.map(text).filter(Boolean).join('\n\n');
  const output = rendered || text(content.text) || text(content.result) || text(content.summary) || pageOf(content);
  const sources = items(members(members(message.metadata)._cite_metadata).metadata_list).map((entry) => {
    const { title, url } = members(entry);
    return link(title, url);
  });
  const shown = [output, ...sources.filter(Boolean).map((line) => `- ${line}`)].filter(Boolean).join('\n');
  const isError = type === 'system_error';
  return [{ type: 'result', callId: undefined, name: author, output: shown, isError }, ...pictures];
}

function pictureOf(entry: unknown): unknown[] {
  const { image_url: pointer } = members(entry);
  return typeof pointer === 'string' ? [{ content_type: 'image_asset_pointer', asset_pointer: pointer }] : [];
}

/** Pages of newer browsing tools. */
function pageOf(content: Members): string {
  return [link(content.title, content.url), text(content.snippet)].filter(Boolean).join('\n');
}

function partPieces(part: unknown, message: Members, context: Context): Piece[] {
  if (typeof part === 'string') return textPiece(withLinks(text(part), message));
  const value = members(part);
  const type = text(value.content_type);
  if (type === 'audio_transcription') return textPiece(text(value.text));
  if (type === 'real_time_user_audio_video_asset_pointer') {
    return [value.audio_asset_pointer, value.video_container_asset_pointer].flatMap((each) =>
      typeof each === 'object' && each !== null ? partPieces(each, message, context) : [],
    );
  }
  if (typeof value.asset_pointer !== 'string') return textPiece(text(value.text));
  return filePieces(value.asset_pointer, undefined, attachedName(message, value.asset_pointer), context);
}

function filePieces(
  pointer: string,
  mediaType: string | undefined,
  given: string | undefined,
  context: Context,
): Piece[] {
  const { archive, files, createdAt } = context;
  const found = archive.find(pointer);
  if (found === undefined) return files.missing(given ?? pointer.split('/').at(-1));
  const own = { sourceId: found.entry, name: given ?? found.name, mediaType, createdAt };
  return files.add({ ...own, content: { entry: found.entry } });
}

const bareId = (pointer: unknown): string =>
  text(pointer)
    .replace(/^.*\//, '')
    .replace(/^file[-_]/, '');

function attachedName(message: Members, pointer: string): string | undefined {
  const listed = items(members(message.metadata).attachments).map(members);
  return name(listed.find((each) => bareId(each.id) === bareId(pointer))?.name);
}

/** Uploads that the content does not show already. */
function attachments(message: Members, shown: readonly Piece[], context: Context): Piece[] {
  const content = members(message.content);
  const pointers = new Set(items(content.parts).map((part) => bareId(members(part).asset_pointer)));
  const seen = new Set(shown.flatMap((piece) => (piece.type === 'file' ? [piece.index] : [])));
  return items(members(message.metadata).attachments).flatMap((entry) => {
    const { id, name: given, mime_type: type, mimeType } = members(entry);
    if (typeof id !== 'string' || pointers.has(bareId(id))) return [];
    const pieces = filePieces(id, name(type) ?? name(mimeType), name(given), context);
    return pieces.filter((piece) => piece.type !== 'file' || !seen.has(piece.index));
  });
}

function fence(code: string, language: string): string {
  if (code.trim() === '') return '';
  const marks = '`'.repeat(Math.max(3, ...[...code.matchAll(/`{3,}/g)].map(([run]) => run.length + 1)));
  return `${marks}${/^[\w+-]{1,30}$/.test(language) && language !== 'unknown' ? language : ''}\n${code}\n${marks}`;
}

function quotation({ url, domain, title, text: quoted }: Members): string {
  const lines = text(quoted)
    .split('\n')
    .map((line) => `> ${line}`);
  return [...lines, '', link(name(title) ?? domain, url)].join('\n').trim();
}

/** Citations become links; marks that nothing explains are removed. */
function withLinks(said: string, message: Members): string {
  const metadata = members(message.metadata);
  let result = said;
  const citations = items(metadata.citations).map(members);
  if (citations.length > 0) {
    const characters = [...said];
    const placed = citations
      .map((each) => ({ from: Number(each.start_ix), to: Number(each.end_ix), source: members(each.metadata) }))
      .filter(({ from, to }) => Number.isInteger(from) && Number.isInteger(to) && from >= 0 && to > from)
      .filter(({ to }) => to <= characters.length)
      .sort((a, b) => b.from - a.from);
    let end = characters.length;
    for (const { from, to, source } of placed) {
      if (to > end) continue;
      const shown = link(source.title, source.url);
      characters.splice(from, to - from, shown === '' ? '' : ` (${shown})`);
      end = from;
    }
    result = characters.join('');
  }
  for (const entry of items(metadata.content_references).slice(0, 1000)) {
    const reference = members(entry);
    const mark = text(reference.matched_text);
    if (mark.trim() === '' || !/[\ue200-\ue2ff]|【/.test(mark)) continue;
    result = result.replaceAll(mark, () => referenceLinks(reference));
  }
  return (
    result
      .replace(/(?<! ) {2,}(?=\(\[)/g, ' ')
      .replace(/\ue200entity\ue202([^\ue200\ue201]{0,2000})\ue201/g, (_mark, entity) => entityName(entity))
      .replace(/\ue200[^\ue200\ue201]{0,2000}\ue201/g, '')
      .replace(/[\ue200-\ue206]/g, '')
      // Marks that lost their frame in a copy or an older export.
      .replace(/ ?\b(?:cite|filecite|navlist|video)(?:turn\d{1,4}[a-z]{2,20}\d{1,4}){1,50}(?![a-z0-9])/g, '')
  );
}

/** The words that a mark such as `["city","Paris","capital"]` stands for. */
function entityName(entity: string): string {
  try {
    const found: unknown = JSON.parse(entity);
    return Array.isArray(found) ? text(found[1]) : '';
  } catch {
    return '';
  }
}

function referenceLinks(reference: Members): string {
  const sources = [reference, ...items(reference.items).map(members)];
  const links = sources.filter(({ url }) => typeof url === 'string').map(({ title, url }) => link(title, url));
  const shown = [...new Set(links.filter((each) => each.startsWith('[')))].slice(0, 5);
  return shown.length > 0 ? ` (${shown.join(', ')})` : text(reference.alt);
}
