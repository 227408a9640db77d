import { searchText } from '../conversations/search-text.ts';
import { estimateTokens } from '../platform/text-tokens.ts';
import type { ExtractedDocument, IndexedDocument } from './document.ts';

/** Maximum length of a piece: the unit that a search finds and one row holds. */
const pieceLength = 4_000;

/** The document as it is kept. Slow for long ones: runs where they are read. */
export function indexed({ kind, pages, warnings }: ExtractedDocument): IndexedDocument {
  let tokens = 0;
  const cut = pages.map(({ label, text }) => {
    tokens += estimateTokens(text);
    return { label, pieces: piecesOf(text).map((piece) => ({ text: piece, words: searchText(piece) })) };
  });
  return { kind, warnings, tokens, pages: cut };
}

/**
 * A page in pieces that end with a line or word where they can; together they are the page. An empty page is one empty
 * piece.
 */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let at = 0;
  while (text.length - at > pieceLength) {
    const most = at + pieceLength;
    const least = at + pieceLength / 2;
    // Only here: a text without any would be looked through from each piece.
    const tail = text.slice(least, most);
    const line = tail.lastIndexOf('\n');
    const space = tail.lastIndexOf(' ');
    const end = line >= 0 ? least + line + 1 : space >= 0 ? least + space + 1 : wholeCharacter(text, most);
    pieces.push(text.slice(at, end));
    at = end;
  }
  pieces.push(text.slice(at));
  return pieces;
}

function wholeCharacter(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code < 0xdc00 ? end - 1 : end;
}
