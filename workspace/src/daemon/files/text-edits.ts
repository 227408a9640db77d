import { DaemonError } from '../daemon-error.ts';
import { type TextFormat, withLineEnds } from './text-format.ts';

export type Edit = { oldText: string; newText: string; all: boolean };

/** One place in a text: where it begins and ends. */
type Place = { from: number; to: number };

/**
 * Replaces texts, one edit after the other. A line break of `oldText` also matches a Windows line end, and the new text
 * gets the line ends of what it replaces. Throws `invalid_request` with the number of the edit that failed, and
 * `payload_too_large` above `maxLength` characters.
 */
export function applyEdits(
  original: string,
  edits: readonly Edit[],
  format: TextFormat,
  maxLength: number,
): { text: string; replaced: number } {
  let text = original;
  let replaced = 0;
  for (const [index, { oldText, newText, all }] of edits.entries()) {
    const places = findPlaces(text, oldText);
    if (places.length === 0)
      throw new DaemonError('invalid_request', `Edit ${index + 1}: the old text is not in the file`);
    if (places.length > 1 && !all) {
      throw new DaemonError(
        'invalid_request',
        `Edit ${index + 1}: the old text is ${places.length} times in the file, not once`,
      );
    }
    text = replaceAt(text, places, (matched) => withLineEnds(newText, { eol: lineEndOf(matched, format) }), maxLength);
    replaced += places.length;
  }
  return { text, replaced };
}

function lineEndOf(matched: string, format: TextFormat): TextFormat['eol'] {
  if (matched.includes('\r\n')) return '\r\n';
  return matched.includes('\n') ? '\n' : format.eol;
}

function findPlaces(text: string, oldText: string): Place[] {
  const exact = allOf(text, oldText);
  if (exact.length > 0 || !text.includes('\r\n')) return exact;
  const wanted = oldText.replaceAll('\r\n', '\n');
  if (!wanted.includes('\n')) return [];
  const places = allOf(text.replaceAll('\r\n', '\n'), wanted);
  const original = createIndex(text);
  return places.map(({ from, to }) => ({ from: original(from), to: original(to) }));
}

function allOf(text: string, wanted: string): Place[] {
  const places: Place[] = [];
  for (let from = text.indexOf(wanted); from !== -1; from = text.indexOf(wanted, from + wanted.length)) {
    places.push({ from, to: from + wanted.length });
  }
  return places;
}

/** The index in a text of an index in the same text with plain line ends; for rising indexes only. */
function createIndex(text: string): (plain: number) => number {
  let [at, dropped] = [text.indexOf('\r\n'), 0];
  return (plain) => {
    while (at !== -1 && at - dropped < plain) {
      dropped += 1;
      at = text.indexOf('\r\n', at + 2);
    }
    return plain + dropped;
  };
}

function replaceAt(
  text: string,
  places: readonly Place[],
  make: (matched: string) => string,
  maxLength: number,
): string {
  const pieces: string[] = [];
  let [end, length] = [0, 0];
  for (const { from, to } of places) {
    const piece = text.slice(end, from) + make(text.slice(from, to));
    length += piece.length;
    if (length > maxLength) throw new DaemonError('payload_too_large', `The text would exceed ${maxLength} characters`);
    pieces.push(piece);
    end = to;
  }
  return pieces.join('') + text.slice(end);
}
