import type { Token, Tokens } from 'marked';

const alertKinds = ['note', 'tip', 'important', 'warning', 'caution'] as const;
export type AlertKind = (typeof alertKinds)[number];
/** A quote that begins with a line such as `[!NOTE]`. */
export type Alert = Tokens.Blockquote & { alert?: AlertKind };

const marker = /^\[!(note|tip|important|warning|caution)\][ \t]*(?:\n|$)/i;

/** Takes the marker out of a quote's first paragraph, whose text is still queued for the lexer. */
export function readAlert(quote: Tokens.Blockquote, queue: { src: string; tokens: Token[] }[]): Alert {
  const first = quote.tokens[0];
  if (first?.type !== 'paragraph') return quote;
  const [found, name] = marker.exec(first.text) ?? [];
  const alert = alertKinds.find((kind) => kind === name?.toLowerCase());
  if (found === undefined || alert === undefined) return quote;
  const queued = queue.findLast(({ tokens }) => tokens === first.tokens);
  if (queued) queued.src = first.text.slice(found.length);
  first.text = first.text.slice(found.length);
  if (first.text === '') quote.tokens.shift();
  return { ...quote, alert };
}
