/** Detects when a JSON object that arrives in pieces is complete; each character is read once. */
export type JsonTracker = { add(piece: string): void; readonly isComplete: boolean };

const quote = 34;
const backslash = 92;
const opening = new Set([0x5b, 0x7b]);
const closing = new Set([0x5d, 0x7d]);
const space = new Set([0x09, 0x0a, 0x0d, 0x20]);

/** Tracks only strings and brackets: parsing the whole reveals text that is balanced but invalid. */
export function createJsonTracker(): JsonTracker {
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let state: 'before' | 'inside' | 'complete' | 'other' = 'before';

  function inString(code: number): void {
    if (isEscaped) isEscaped = false;
    else if (code === backslash) isEscaped = true;
    else if (code === quote) isInString = false;
  }

  function inside(code: number): void {
    if (code === quote) isInString = true;
    else if (opening.has(code)) depth += 1;
    else if (closing.has(code)) depth -= 1;
    if (depth === 0) state = 'complete';
  }

  return {
    add(piece) {
      for (let at = 0; at < piece.length && state !== 'other'; at++) {
        const code = piece.charCodeAt(at);
        if (isInString) inString(code);
        else if (state === 'inside') inside(code);
        else if (space.has(code)) continue;
        else if (state === 'before' && code === 0x7b) {
          state = 'inside';
          depth = 1;
        } else state = 'other';
      }
    },
    get isComplete() {
      return state === 'complete';
    },
  };
}
