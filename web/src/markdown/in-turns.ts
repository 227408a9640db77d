/** Milliseconds of work before the page gets a chance to respond. */
const turn = 12;

const waiting = new Set<() => void>();
let isAtWork = false;

/**
 * Runs work in turns, so that a thousand formulas in one answer do not block the page. Returns a function that cancels
 * it.
 */
export function inTurns(work: () => void): () => void {
  waiting.add(work);
  if (!isAtWork) {
    isAtWork = true;
    queueMicrotask(takeTurn);
  }
  return () => waiting.delete(work);
}

function takeTurn(): void {
  const until = performance.now() + turn;
  for (const work of waiting) {
    waiting.delete(work);
    work();
    if (performance.now() > until) break;
  }
  isAtWork = waiting.size > 0;
  if (isAtWork) setTimeout(takeTurn);
}
