import { findHits, hasAllWords } from '@homeport/contracts/text/search-words';

const maximumHits = 500;
const all = 'find';
const current = 'find-current';

/** The positions of the words in the thread on the page, oldest first, in messages that contain all of them. */
export function findRanges(words: readonly string[]): Range[] {
  const ranges: Range[] = [];
  for (const message of document.querySelectorAll('[data-message]')) {
    const nodes = textNodes(message);
    // Joined without a separator, the last word of a heading and the first of its paragraph would be one word.
    if (!hasAllWords(nodes.map((node) => node.nodeValue ?? '').join(' '), words)) continue;
    for (const node of nodes) {
      if (ranges.length >= maximumHits) break;
      for (const { start, end } of findHits(node.nodeValue ?? '', words)) {
        const range = document.createRange();
        range.setStart(node, start);
        range.setEnd(node, end);
        ranges.push(range);
      }
    }
  }
  return ranges.slice(0, maximumHits);
}

function textNodes(message: Element): Node[] {
  const walker = document.createTreeWalker(message, NodeFilter.SHOW_TEXT);
  const nodes: Node[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (!node.parentElement?.closest('.visually-hidden, button, [aria-hidden="true"]')) nodes.push(node);
  return nodes;
}

/** Highlights the hits with the CSS Custom Highlight API, if the browser supports it. */
export function showHits(ranges: readonly Range[], at: number): void {
  if (!('highlights' in CSS)) return;
  const now = ranges[at];
  CSS.highlights.set(all, new Highlight(...ranges.filter((range) => range !== now)));
  if (now) CSS.highlights.set(current, new Highlight(now));
  else CSS.highlights.delete(current);
}

export function clearHits(): void {
  if (!('highlights' in CSS)) return;
  CSS.highlights.delete(all);
  CSS.highlights.delete(current);
}

/** Scrolls a hit to the middle and opens the folds around it. */
export function revealRange(range: Range): void {
  const element = range.startContainer.parentElement;
  if (!element) return;
  for (let box = element.closest('details'); box; box = box.parentElement?.closest('details') ?? null) box.open = true;
  revealElement(element, 'center');
}

/** Scrolls to something in the thread. */
export function revealElement(element: Element, block: ScrollLogicalPosition): void {
  const scroller = element.closest('[role="log"]');
  // The thread follows its end until a person scrolls away; being moved elsewhere counts as scrolling.
  scroller?.dispatchEvent(new WheelEvent('wheel', { deltaY: -1, bubbles: true }));
  element.scrollIntoView({ block, behavior: 'instant' });
}

/** Once what was just loaded is on the page. */
export function nextPaint(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
}
