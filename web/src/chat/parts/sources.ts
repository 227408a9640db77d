import type { MessagePart } from '@homeport/contracts/chat/frames';
import { sourceBounds, webAddress } from '@homeport/contracts/chat/sources';

/** A source of an answer. Without a link it is a document; `number` is the one that the text refers to as `[n]`. */
export type AnswerSource = { title: string; href: string | undefined; number: number };

/** The sources of an answer in their order, each address once; a server's text, bounded, with web links only. */
export function sourcesOf(parts: readonly MessagePart[]): AnswerSource[] {
  const found = new Map<string, Omit<AnswerSource, 'number'> & { sourceId: string }>();
  for (const part of parts) {
    if (found.size === sourceBounds.count) break;
    if (part.type === 'source-url') {
      const { url, title, sourceId } = part;
      const href = typeof url === 'string' ? webAddress(url) : undefined;
      if (href === undefined || found.has(href)) continue;
      found.set(href, { title: shortText(title) || href, href, sourceId });
    } else if (part.type === 'source-document') {
      const title = shortText(part.title) || shortText(part.filename);
      if (title !== '') found.set(`document ${title}`, { title, href: undefined, sourceId: part.sourceId });
    }
  }
  let last = 0;
  return [...found.values()].map(({ sourceId, ...source }) => {
    const own = /^\d{1,4}$/.test(sourceId) ? Number(sourceId) : 0;
    last = own > last ? own : last + 1;
    return { ...source, number: last };
  });
}

/** A text in pieces: the numbers in brackets that name a source, and the text between them. */
export function numberedPieces<Source extends { number: number }>(
  text: string,
  sources: readonly Source[],
): (string | Source)[] {
  const pieces: (string | Source)[] = [];
  let end = 0;
  for (const match of text.matchAll(/\[(\d{1,4})\]/g)) {
    const source = sources.find(({ number }) => number === Number(match[1]));
    if (source === undefined) continue;
    if (match.index > end) pieces.push(text.slice(end, match.index));
    pieces.push(source);
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  return pieces;
}

/** Stored parts can come from an import, whose texts were not measured. */
function shortText(text: unknown): string {
  return typeof text === 'string' ? text.trim().slice(0, sourceBounds.title) : '';
}
