import type { MessagePart } from '@homeport/contracts/chat/frames';
import { safeLink } from '../../markdown/links.ts';

/** A source of an answer. Without a link it is a document. */
export type AnswerSource = { title: string; href: string | undefined };

const maxSources = 50;
const maxTitle = 200;

/** The sources of an answer in their order, each address once; a server's text, bounded, with web links only. */
export function sourcesOf(parts: readonly MessagePart[]): AnswerSource[] {
  const found = new Map<string, AnswerSource>();
  for (const part of parts) {
    const type: string = part.type;
    if (found.size === maxSources) break;
    if (type === 'source-url') {
      const link = safeLink(textOf(part, 'url'));
      if (link?.kind !== 'external' || found.has(link.href)) continue;
      found.set(link.href, { title: titleOf(part) || link.href, href: link.href });
    } else if (type === 'source-document') {
      const title = titleOf(part) || textOf(part, 'filename').slice(0, maxTitle);
      if (title !== '') found.set(`document ${title}`, { title, href: undefined });
    }
  }
  return [...found.values()];
}

function titleOf(part: MessagePart): string {
  return textOf(part, 'title').trim().slice(0, maxTitle);
}

function textOf(part: MessagePart, name: string): string {
  const value: unknown = Reflect.get(part, name);
  return typeof value === 'string' ? value : '';
}
