import type { Lexer, Token, Tokens } from 'marked';

/** A note's definition, and a reference to one, which stays text unless the note is defined in the same message. */
export type Footnote = Tokens.Generic & { type: 'footnote'; label: string; tokens: Token[] };
export type FootnoteReference = Tokens.Generic & { type: 'footnoteReference'; label: string };

const definition = /^ {0,3}\[\^([^\s[\]^]{1,80})\]:[ \t]*/;
const reference = /^\[\^([^\s[\]^]{1,80})\](?!\()/;
const nextDefinition = /\n {0,3}\[\^[^\s[\]^]{1,80}\]:/;
/** A line that begins another block, which a note's last paragraph does not continue. */
const beginsBlock = /^ {0,3}(?:[-*+>#|]|\d{1,9}[.)]|```|~~~|\[\^)/;
/** Characters of one note, and of a paragraph in which the next definition is searched at once. */
const longestNote = 10_000;
const searchedAtOnce = 1_000;

/** Extension of marked's lexer: the definition of a note. */
export function footnote(this: { lexer: Lexer }, src: string): Footnote | undefined {
  const [start, label] = (this.lexer.state.top && definition.exec(src)) || [];
  if (start === undefined || label === undefined) return undefined;
  const lines = noteLines(src.slice(start.length, start.length + longestNote));
  const raw = start + lines.join('');
  const content = lines.map((line, index) => (index === 0 ? line : line.replace(/^(?: {4}|\t)/, ''))).join('');
  return { type: 'footnote', raw, label: label.toLowerCase(), tokens: this.lexer.blockTokens(content, []) };
}

/** The first line, the lines that continue its paragraph, and after an empty line only indented ones. */
function noteLines(text: string): string[] {
  const lines: string[] = [];
  let end = 1;
  let isAfterEmpty = false;
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf('\n', at) + 1 || text.length;
    const line = text.slice(at, next);
    const isEmpty = line.trim() === '';
    const isIndented = /^(?: {4}|\t)/.test(line);
    if (at > 0 && !isEmpty && !isIndented && (isAfterEmpty || beginsBlock.test(line))) break;
    lines.push(line);
    if (!isEmpty) end = lines.length;
    isAfterEmpty = isEmpty;
    at = next;
  }
  return lines.slice(0, end);
}

/** Extension of marked's lexer: a reference to a note. */
export function footnoteReference(src: string): FootnoteReference | undefined {
  const [raw, label] = reference.exec(src) ?? [];
  if (raw === undefined || label === undefined) return undefined;
  return { type: 'footnoteReference', raw, label: label.toLowerCase() };
}

/** Extension of marked's lexer: the offset at which a definition interrupts a paragraph. */
export function nextFootnote(this: { lexer: Lexer }, src: string): number | undefined {
  const at = this.lexer.state.top ? src.slice(0, searchedAtOnce).search(nextDefinition) : -1;
  return at === -1 ? undefined : at;
}

/** The notes of a message in the order of their first references; those without one come last. */
export function orderedFootnotes(tokens: readonly Token[]): Footnote[] {
  const notes = new Map<string, Footnote>();
  for (const note of definitions(tokens)) if (!notes.has(note.label)) notes.set(note.label, note);
  if (notes.size === 0) return [];
  const labels = new Set([...references(tokens), ...notes.keys()]);
  return [...labels].flatMap((label) => notes.get(label) ?? []);
}

function definitions(tokens: readonly Token[]): Footnote[] {
  return tokens.flatMap((token) => {
    if (token.type === 'footnote') return [token as Footnote];
    return token.type === 'blockquote' ? definitions(token.tokens ?? []) : [];
  });
}

function references(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token): string[] => {
    if (token.type === 'footnote') return [];
    if (token.type === 'footnoteReference') return [(token as FootnoteReference).label];
    if (token.type === 'list') return references((token as Tokens.List).items);
    if (token.type === 'table') {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows].flat().flatMap((cell) => references(cell.tokens));
    }
    return 'tokens' in token && token.tokens ? references(token.tokens) : [];
  });
}
