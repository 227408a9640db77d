/** Milliseconds of work before the page gets a chance to respond. */
const sliceMs = 12;

const queue = new Set<() => void>();
let isRunning = false;

/**
 * Queues work and runs it in slices, so that a thousand formulas in one answer don't block the page. Returns a function
 * that cancels it.
 */
export function runCooperatively(work: () => void): () => void {
  queue.add(work);
  if (!isRunning) {
    isRunning = true;
    queueMicrotask(runSlice);
  }
  return () => queue.delete(work);
}

function runSlice(): void {
  const until = performance.now() + sliceMs;
  for (const work of queue) {
    queue.delete(work);
    work();
    if (performance.now() > until) break;
  }
  isRunning = queue.size > 0;
  if (isRunning) setTimeout(runSlice);
}
