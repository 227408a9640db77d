/** Calls for elements that have not come near the screen. */
const waiting = new Map<Element, Set<() => void>>();
let observer: IntersectionObserver | undefined;

/** Calls `onNear` once when the element comes near the screen; returns a function that cancels this. */
export function whenNear(element: Element, onNear: () => void): () => void {
  // One observer for all: a long answer has a hundred blocks of code.
  observer ??= new IntersectionObserver(onMoves, margins);
  const calls = waiting.get(element) ?? new Set();
  waiting.set(element, calls.add(onNear));
  observer.observe(element);
  return () => {
    calls.delete(onNear);
    if (calls.size === 0 && waiting.get(element) === calls) forget(element);
  };
}

/** The second one is for elements in a box that scrolls, as those of a thread. */
const margins: IntersectionObserverInit & { scrollMargin: string } = { rootMargin: '600px', scrollMargin: '600px' };

function onMoves(entries: readonly IntersectionObserverEntry[]): void {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    const calls = waiting.get(target);
    forget(target);
    for (const call of calls ?? []) call();
  }
}

function forget(element: Element): void {
  waiting.delete(element);
  observer?.unobserve(element);
}
