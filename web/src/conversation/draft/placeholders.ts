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

/** The names of the placeholders in a text, each once, in their order. */
export function placeholderNames(text: string): string[] {
  return [...new Set(findPlaceholders(text).map(({ start, end }) => nameAt(text, start, end)))];
}

/** The text with each placeholder replaced by its value; one without a value stays. */
export function fillPlaceholders(text: string, values: ReadonlyMap<string, string>): string {
  let filled = '';
  let from = 0;
  for (const { start, end } of findPlaceholders(text)) {
    filled += text.slice(from, start) + (values.get(nameAt(text, start, end)) || text.slice(start, end));
    from = end;
  }
  return filled + text.slice(from);
}

function nameAt(text: string, start: number, end: number): string {
  return text.slice(start + 2, end - 2).trim();
}
