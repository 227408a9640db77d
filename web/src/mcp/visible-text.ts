/**
 * Untrusted text, split so that nothing in it stays invisible (contract.md section 7: trust is given to what was read).
 */
export type TextPiece =
  | { kind: 'text'; text: string }
  /**
   * Characters that show nothing or change what is around them: `spells` is the text of tag characters, `codes` are the
   * others.
   */
  | { kind: 'hidden'; count: number; codes: string[]; spells: string }
  /** White space that would push the text after it out of sight. */
  | { kind: 'gap'; count: number; what: 'lines' | 'spaces' };

/**
 * Control, format, private and unassigned characters, lone surrogates, line separators, every space except the plain
 * one, and fillers and variation selectors, which Unicode counts as letters and marks. Line breaks and tabs are
 * visible.
 */
const unseen =
  /(?:(?![\n\t])(?:[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}|\u034f|[\u115f\u1160\u3164\uffa0]|[\u17b4\u17b5]|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]))+/gu;
const gap = /(?<![ \t])(?:[ \t]*\n){4,}|(?<![ \t])[ \t]{24,}/g;

/** Codes listed individually before the rest is only counted. */
const namedAtMost = 12;

export function visiblePieces(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let from = 0;
  const plain = text.replaceAll('\r\n', '\n');
  for (const match of plain.matchAll(unseen)) {
    pieces.push(...withGaps(plain.slice(from, match.index)), hidden(match[0]));
    from = match.index + match[0].length;
  }
  return [...pieces, ...withGaps(plain.slice(from))];
}

const emoji = /\p{Extended_Pictographic}\ufe0f?(?:\u200d\p{Extended_Pictographic}\ufe0f?)*/gu;

/** How many characters of a text are hidden, not counting parts of emoji. */
export function countHidden(text: string): number {
  return visiblePieces(text.replace(emoji, '')).reduce(
    (sum, piece) => sum + (piece.kind === 'hidden' ? piece.count : 0),
    0,
  );
}

function hidden(characters: string): TextPiece {
  const points = Array.from(characters, (character) => character.codePointAt(0) ?? 0);
  const isTag = (point: number) => point >= 0xe0020 && point <= 0xe007e;
  const spelled = points.filter(isTag);
  return {
    kind: 'hidden',
    count: points.length,
    codes: points
      .filter((point) => !isTag(point))
      .map((point) => `U+${point.toString(16).toUpperCase().padStart(4, '0')}`),
    spells: spelled.map((point) => String.fromCharCode(point - 0xe0000)).join(''),
  };
}

/** The first codes as text, and how many more there are. */
export function nameCodes(codes: readonly string[]): { named: string; more: number } {
  return { named: codes.slice(0, namedAtMost).join(' '), more: Math.max(0, codes.length - namedAtMost) };
}

function withGaps(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const match of text.matchAll(gap)) {
    if (match.index > from) pieces.push({ kind: 'text', text: text.slice(from, match.index) });
    const lines = match[0].split('\n').length - 1;
    pieces.push(
      lines > 0
        ? { kind: 'gap', count: lines - 1, what: 'lines' }
        : { kind: 'gap', count: match[0].length, what: 'spaces' },
    );
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push({ kind: 'text', text: text.slice(from) });
  return pieces;
}
