/** Milliseconds of work between two chances for the page to answer. */
const turn = 12;

const waiting = new Set<() => void>();
let isAtWork = false;

/** Does a piece of work in its turn: a thousand formulas in one answer must not hold the page. Gives the way to call it off. */
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
