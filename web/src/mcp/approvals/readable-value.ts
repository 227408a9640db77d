/** Shape in which a value of a tool's input is shown. */
export type Readable =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  /** A time in the reader's time zone, with the text that the tool gets. */
  | { kind: 'time'; text: string; raw: string }
  | { kind: 'list'; items: readonly Readable[] }
  | { kind: 'members'; members: readonly (readonly [string, Readable])[] };

/** Levels and entries that are laid out; deeper or longer values are shown as JSON. */
const deepest = 3;
const mostEntries = 100;

const timePattern = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** Lays a value out for people: nothing is left out. */
export function readableValue(value: unknown, locale: string, depth = 0): Readable {
  if (typeof value === 'string') return readableText(value, locale);
  if (typeof value !== 'object' || value === null) return { kind: 'code', text: String(JSON.stringify(value)) };
  const entries = Object.entries(value);
  if (depth >= deepest || entries.length === 0 || entries.length > mostEntries)
    return { kind: 'code', text: JSON.stringify(value, null, 2) };
  if (Array.isArray(value)) return { kind: 'list', items: value.map((each) => readableValue(each, locale, depth + 1)) };
  return {
    kind: 'members',
    members: entries.map(([name, each]) => [name, readableValue(each, locale, depth + 1)] as const),
  };
}

function readableText(text: string, locale: string): Readable {
  const isDay = text.length === 10;
  const time = timePattern.test(text) ? new Date(isDay ? `${text}T00:00` : text) : undefined;
  if (time === undefined || Number.isNaN(time.getTime())) return { kind: 'text', text };
  const style: Intl.DateTimeFormatOptions = { dateStyle: 'full', ...(isDay ? {} : { timeStyle: 'short' }) };
  return { kind: 'time', text: new Intl.DateTimeFormat(locale, style).format(time), raw: text };
}
