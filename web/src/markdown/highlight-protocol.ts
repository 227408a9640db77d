import type { GrammarName } from './language-names.ts';

/** What a piece of code is, in the words of the style sheet. */
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

/** One line: texts, each with the index of its kind. */
export type HighlightedLine = readonly (readonly [text: string, kind: number])[];
export type HighlightRequest = { id: number; code: string; grammar: GrammarName };
/** `lines` is null when the code could not be taken apart. */
export type HighlightAnswer = { id: number; lines: HighlightedLine[] | null };
