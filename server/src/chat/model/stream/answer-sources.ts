import { sourceBounds, webAddress } from '@homeport/contracts/chat/sources';
import { oneLine } from '@homeport/contracts/text/line';
import { isRecord, storableText } from './storable-text.ts';

/** Sources that servers name with an answer, in the shapes of their protocols. All of it is a stranger's text. */

/** A source before it has an id. `number`: its place in a list that the answer's text refers to as `[n]`. */
export type AnswerSource =
  | { kind: 'url'; url: string; title?: string; number?: number }
  | { kind: 'document'; title: string; mediaType: string; filename?: string };

type Sink = { source?(source: AnswerSource): void };

/** Reader of the sources of one answer. */
export type SourceReader = ReturnType<typeof createSourceReader>;

/** Passes each source on once. Lists are read as far as one answer may have sources. */
export function createSourceReader(sink: Sink, flush: () => void) {
  const seen = new Set<string>();

  function pass(key: string, source: AnswerSource): void {
    if (sink.source === undefined || seen.has(key) || seen.size >= sourceBounds.count) return;
    seen.add(key);
    flush();
    sink.source(source);
  }

  function url(address: unknown, title: unknown, number?: number): boolean {
    const known = typeof address === 'string' ? webAddress(address) : undefined;
    if (known === undefined) return false;
    const name = titleOf(title);
    const source: AnswerSource = { kind: 'url', url: storableText(String(address).trim()) };
    if (name !== '') source.title = name;
    if (number !== undefined) source.number = number;
    pass(known, source);
    return true;
  }

  function document(title: unknown, mediaType: unknown, file?: unknown): void {
    const filename = titleOf(file);
    const name = titleOf(title) || filename;
    if (name === '') return;
    const type = typeof mediaType === 'string' && mediaTypeShape.test(mediaType) ? mediaType : 'text/plain';
    const source: AnswerSource = { kind: 'document', title: name, mediaType: type };
    if (filename !== '') source.filename = filename;
    pass(`document ${name} ${filename}`, source);
  }

  /** One entry of a list, in any of the shapes that servers use. */
  function entry(value: unknown, titles?: ReadonlyMap<string, unknown>, number?: number): void {
    if (typeof value === 'string') {
      url(value, titles?.get(value), number);
      return;
    }
    if (!isRecord(value)) return;
    const inner = firstRecord(value.url_citation, value.file_citation, value.web, value.citation) ?? value;
    const address = inner.url ?? inner.link ?? inner.uri ?? inner.source;
    const title = inner.title ?? inner.name ?? (typeof address === 'string' ? titles?.get(address) : undefined);
    if (url(address, title, number)) return;
    const file = inner.filename ?? inner.file_name ?? inner.filepath;
    if (file !== undefined || inner.file_id !== undefined || inner.title !== undefined) {
      document(inner.title ?? file ?? inner.file_id, inner.media_type, file);
    }
  }

  return {
    url,
    document,
    entry,
    /** A list. `isNumbered`: the text refers to its entries by their places. */
    list(value: unknown, { titles, isNumbered = false }: ListOptions = {}): void {
      if (!Array.isArray(value)) return;
      const entries = value.slice(0, sourceBounds.count);
      for (const [at, each] of entries.entries()) entry(each, titles, isNumbered ? at + 1 : undefined);
    },
  };
}

type ListOptions = { titles?: ReadonlyMap<string, unknown>; isNumbered?: boolean };

const mediaTypeShape = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/;

/** Titles by address, from a list that repeats the addresses of another one. */
export function titlesIn(value: unknown): ReadonlyMap<string, unknown> {
  const titles = new Map<string, unknown>();
  for (const each of Array.isArray(value) ? value.slice(0, sourceBounds.count) : []) {
    if (isRecord(each) && typeof each.url === 'string') titles.set(each.url, each.title);
  }
  return titles;
}

function titleOf(value: unknown): string {
  if (typeof value !== 'string') return '';
  return oneLine(storableText(value.slice(0, 4 * sourceBounds.title)))
    .slice(0, sourceBounds.title)
    .toWellFormed()
    .trim();
}

function firstRecord(...values: unknown[]): Record<string, unknown> | undefined {
  return values.find(isRecord);
}
