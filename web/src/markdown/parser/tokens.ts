import type { MarkedToken, Token } from 'marked';
import type { MathToken } from '../math/math-syntax.ts';
import type { Footnote, FootnoteReference } from './footnotes.ts';

export type MarkdownToken = MarkedToken | MathToken | Footnote | FootnoteReference;

/** All possible tokens: marked's own, formulas and footnotes. */
export function asMarkdownToken(token: Token): MarkdownToken {
  return token as MarkdownToken;
}
