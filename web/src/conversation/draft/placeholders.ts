/** A `{{placeholder}}` of a prompt: its place in the text, braces included. */
export type Place = { start: number; end: number };

const placeholder = /\{\{[^{}\n]{1,100}\}\}/g;

export function findPlaceholders(text: string): Place[] {
  return Array.from(text.matchAll(placeholder), ({ index, 0: found }) => ({ start: index, end: index + found.length }));
}

/**
 * The next one behind the selection, or the last one before it. There is none behind the last: the Tab key then
 * moves the focus as usual.
 */
export function stepPlaceholder(text: string, selection: Place, isBack: boolean): Place | undefined {
  const places = findPlaceholders(text);
  if (isBack) return places.findLast(({ end }) => end <= selection.start);
  return places.find(({ start }) => start >= selection.end);
}
