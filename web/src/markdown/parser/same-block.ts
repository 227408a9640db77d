import type { Token } from 'marked';

/** A block at the top of a message, with the level of a heading. */
export type Placed = { token: Token; level: number | undefined };

/**
 * Whether a block looks as before. The open blocks at the end are parsed again and again; the same source gives the same
 * result, unless a link in it may have got its definition.
 */
export function isSameBlock(before: Placed | undefined, after: Placed): boolean {
  if (!before || before.level !== after.level) return false;
  if (before.token === after.token) return true;
  const isSameSource = before.token.raw === after.token.raw && before.token.type === after.token.type;
  return isSameSource && !after.token.raw.includes('[');
}
