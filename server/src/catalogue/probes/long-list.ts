import { setImmediate } from 'node:timers/promises';
import { parseForeignJson } from '../../platform/json/json-scan.ts';

/**
 * Parser for lists with thousands of models, which would block the event loop if parsed at once: the entries are parsed
 * one by one, yielding to the event loop between them.
 */

const entryMax = 64 * 1024;
/** Characters and entries to process before yielding to the event loop. */
const turn = { characters: 256 * 1024, entries: 250 } as const;

/**
 * The same as `parseForeignJson`, and for a long list its entries alone: `{data | models: [...], has_more?}` or an
 * array.
 */
export async function parseModelList(text: string, entriesMax: number): Promise<unknown> {
  try {
    return parseForeignJson(text);
  } catch (error) {
    const list = listStart(text);
    if (list === undefined) throw error;
    const entries = await readEntries(text, list.at, entriesMax);
    if (entries.length === 0) throw error;
    if (list.name === undefined) return entries;
    return { [list.name]: entries, ...(text.includes('"has_more"') ? { has_more: false } : {}) };
  }
}

/** Calls `make` for every item, with turns for other work. */
export async function mapInTurns<In, Out>(items: readonly In[], make: (item: In) => Out): Promise<Out[]> {
  const made: Out[] = [];
  for (const item of items) {
    made.push(make(item));
    if (made.length % turn.entries === 0) await setImmediate();
  }
  return made;
}

/** Returns the position of the array of models: the text itself, or a member near its beginning. */
function listStart(text: string): { at: number; name: string | undefined } | undefined {
  const head = text.slice(0, 1_000);
  const whole = /^\s{0,20}\[/.exec(head);
  if (whole) return { at: whole[0].length, name: undefined };
  const member = /^\s{0,20}\{[^[\]]{0,900}?"(data|models)"\s{0,20}:\s{0,20}\[/.exec(head);
  return member ? { at: member[0].length, name: member[1] } : undefined;
}

/** Throws a SyntaxError where an entry is not valid JSON, or longer than any model's. */
async function readEntries(text: string, start: number, max: number): Promise<unknown[]> {
  const entries: unknown[] = [];
  let depth = 0;
  let begin = start;
  let rested = start;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '{' || character === '[') {
      if (depth === 0) begin = at;
      depth += 1;
    } else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth < 0) return entries;
      if (depth === 0) {
        if (at - begin > entryMax) throw new SyntaxError('An entry is too long');
        entries.push(parseForeignJson(text.slice(begin, at + 1)));
        if (entries.length === max) return entries;
        if (entries.length % turn.entries === 0) await setImmediate();
      }
    }
    if (at - rested < turn.characters) continue;
    rested = at;
    await setImmediate();
  }
  throw new SyntaxError('The list does not end');
}

/** The place of the quote that ends the string which begins here; no entry has a longer one. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1 && at - start <= entryMax; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
