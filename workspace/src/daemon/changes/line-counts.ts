import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { countChangedLines, type LineCounts } from '@homeport/contracts/text/text-diff';
import { clock } from '../../clock.ts';
import type { ListedChange } from './changes.ts';
import { isKept, type State } from './entry.ts';

/** Bytes of one side of a file, and milliseconds for one list; larger and later files are listed without counts. */
const sideBytesMax = 256 * 1024;
const listMs = 1_000;
const rememberedMax = 5_000;

/** Counts of pairs of contents, which never change; null for what is no text. */
const remembered = new Map<string, LineCounts | null>();

/** The lines that each changed text file gained and lost, by its path. `pathOf` finds kept bytes by their name. */
export async function countLines(
  files: readonly ListedChange[],
  pathOf: (content: string) => string | undefined,
): Promise<Map<string, LineCounts>> {
  const counts = new Map<string, LineCounts>();
  const until = clock.elapsed() + listMs;
  for (const { path, before, after } of files) {
    if (!isCountable(before) || !isCountable(after) || (before === null && after === null)) continue;
    const pair = `${before?.content} ${after?.content}`;
    let counted = remembered.get(pair);
    if (counted === undefined) {
      if (clock.elapsed() > until) continue;
      await setImmediate();
      const [was, is] = [textOf(before, pathOf), textOf(after, pathOf)];
      counted = was === undefined || is === undefined ? null : countChangedLines(was, is);
      if (remembered.size >= rememberedMax) remembered.clear();
      remembered.set(pair, counted);
    }
    if (counted !== null) counts.set(path, counted);
  }
  return counts;
}

type Countable = Extract<State, { type: 'file' }> | null;

function isCountable(state: State): state is Countable {
  return state === null || (state.type === 'file' && state.size <= sideBytesMax && isKept(state.content));
}

/** Undefined for bytes that are no text, or no longer kept. */
function textOf(state: Countable, pathOf: (content: string) => string | undefined): string | undefined {
  if (state === null) return '';
  const file = pathOf(state.content);
  try {
    const text = file === undefined ? undefined : readFileSync(file, 'utf8');
    return text === undefined || /[\0\ufffd]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
