import type { Message } from '@homeport/contracts/chat/conversations';
import type { Origin } from '../../files/origin.ts';
import { safeLink } from '../../markdown/links/links.ts';
import { publishing, readPublished } from '../tool-output.ts';

/** The files that the person attached and the model published, by their ids. */
export function originsOf(messages: readonly Message[]): ReadonlyMap<string, Origin> {
  const origins = new Map<string, Origin>();
  for (const { role, parts } of messages) {
    for (const part of parts) {
      if (part.type === 'file') {
        const link = safeLink(part.url);
        if (link?.kind === 'artifact') origins.set(link.id, role === 'user' ? 'attached' : 'published');
      }
      if (part.type === 'dynamic-tool' && publishing.has(part.toolName) && part.state === 'output-available') {
        const published = readPublished(part.output, part.input);
        if (published && !origins.has(published.id)) origins.set(published.id, 'published');
      }
    }
  }
  return origins;
}
