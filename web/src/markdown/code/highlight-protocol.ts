import type { GrammarName } from './language-names.ts';

/** The kinds of code tokens, as the style sheet names them. */
export const tokenKinds = [
  'plain',
  'keyword',
  'string',
  'comment',
  'constant',
  'parameter',
  'function',
  'string-expression',
  'punctuation',
  'link',
  'inserted',
  'deleted',
  'changed',
] as const;

/** One line: pieces of text, each with the index of its kind. */
export type HighlightedLine = readonly (readonly [text: string, kind: number])[];
export type HighlightRequest = { id: number; code: string; grammar: GrammarName };
/** `lines` is null if the code could not be highlighted. */
export type HighlightAnswer = { id: number; lines: HighlightedLine[] | null };
