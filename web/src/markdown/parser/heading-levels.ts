import type { Token } from 'marked';

/**
 * The level of each heading in a message, undefined for other blocks. The page's title is the h1 and each message has
 * an h2, so headings in a message begin at 3 and never skip a level, however the model numbered them.
 */
export function headingLevels(tokens: readonly Token[]): (number | undefined)[] {
  const open: number[] = [];
  return tokens.map((token) => {
    if (token.type !== 'heading') return undefined;
    const depth = Number(token.depth);
    while ((open.at(-1) ?? 0) >= depth) open.pop();
    open.push(depth);
    return Math.min(6, open.length + 2);
  });
}
