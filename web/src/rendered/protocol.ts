/** The messages between the client and the page that shows what a model made. */

export type RenderedKind = 'html' | 'react';
export type RenderRequest = { kind: RenderedKind; source: string; isTypeScript: boolean };

/** `ready` once the page listens; `fault` for each error of what it shows. */
export type RenderedMessage = { type: 'ready' } | { type: 'fault'; text: string };

/** Characters of a source, and of one error. */
export const maximumSource = 5_000_000;
export const maximumFault = 500;

/** A message from the frame, checked because it is untrusted. */
export function parseRenderedMessage(data: unknown): RenderedMessage | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const { type, text } = data as Record<string, unknown>;
  if (type === 'ready') return { type };
  if (type === 'fault' && typeof text === 'string') return { type, text: text.slice(0, maximumFault) };
  return undefined;
}
