import type { RawResult } from './services/service.ts';
import { findWebAddress } from './web-address.ts';

/** A search result within bounds; `url` is an http or https address without credentials. */
export type SearchResult = { url: string; title: string; text: string; publishedAt?: string };

const titleMax = 300;
const textMax = 1_500;
const dateMax = 40;

/** At most `count` results with usable addresses, each address once, texts without markup and control characters. */
export function tidyResults(results: readonly RawResult[], count: number): SearchResult[] {
  const tidy = new Map<string, SearchResult>();
  for (const { url, title, text, publishedAt } of results) {
    if (tidy.size >= count) break;
    const address = typeof url === 'string' ? findWebAddress(url)?.href : undefined;
    if (address === undefined || tidy.has(address)) continue;
    const date = plainText(publishedAt, dateMax);
    tidy.set(address, {
      url: address,
      title: plainText(title, titleMax) || address.slice(0, titleMax),
      text: plainText(text, textMax),
      ...(date === '' ? {} : { publishedAt: date }),
    });
  }
  return [...tidy.values()];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what no text holds
const controls = /[\u0000-\u001f\u007f-\u009f\s]+/g;

function plainText(value: unknown, most: number): string {
  if (typeof value !== 'string') return '';
  const cut = value.slice(0, most * 4).replace(/<\/?[a-z][^<>]{0,200}>/gi, '');
  return cut.replace(controls, ' ').trim().slice(0, most).toWellFormed();
}
