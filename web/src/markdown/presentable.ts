import type { Token } from 'marked';
import { type Blocks, parseBlocks } from './parser/blocks.ts';
import { closeUnfinishedMarks } from './parser/unfinished-marks.ts';

/** Blocks that may end in half a link or open emphasis. */
const settled = new Set(['paragraph', 'text', 'heading', 'list', 'blockquote', 'lheading']);
/** Checking the end of an endless block in each frame would take quadratic time. */
const settledUpTo = 8_000;

/** The blocks to show; while the text grows, the last one is shown without unclosed marks. */
export function presentable({ tokens, links }: Blocks, isGrowing: boolean): readonly Token[] {
  const last = tokens.at(-1);
  if (!isGrowing || !last || !settled.has(last.type) || last.raw.length > settledUpTo) return tokens;
  const raw = closeUnfinishedMarks(last.raw);
  return raw === last.raw ? tokens : [...tokens.slice(0, -1), ...parseBlocks(raw, links).tokens];
}
