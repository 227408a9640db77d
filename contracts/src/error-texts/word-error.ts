/**
 * Texts of failures by code, `code.reason`, `code.reason.<narrower>`, and `code.<member>At` for a time among the details;
 * `{name}` stands for a value.
 */
export type ErrorTexts = Readonly<Record<string, string>>;

type Details = { reason?: unknown; phase?: unknown; certificate?: unknown; values?: unknown };

/**
 * The most specific text for a failure's code and details, with its values filled in; undefined without one. A text that
 * needs a value is only chosen if the value is there.
 */
export function wordError(
  texts: ErrorTexts,
  code: string,
  details: unknown,
  formatTime: (time: Date) => string = formatUtc,
): string | undefined {
  const { reason, phase, certificate, values }: Details = isRecord(details) ? details : {};
  const times = isRecord(details) ? Object.entries(details).filter(([name]) => name.endsWith('At')) : [];
  const given = { ...Object.fromEntries(times), ...(isRecord(values) ? values : {}) };
  const narrower = [given.problem, certificate, phase, ...Object.keys(given)].filter(isName);
  const names = isName(reason) ? [...narrower.map((name) => `${code}.${reason}.${name}`), `${code}.${reason}`] : [];
  const timed = times.map(([name]) => `${code}.${name}`);
  for (const name of [...names, ...timed, code]) {
    const text = Object.hasOwn(texts, name) ? texts[name] : undefined;
    const filled = text === undefined ? undefined : fill(text, given, formatTime);
    if (filled !== undefined) return filled;
  }
  return undefined;
}

const maxValueLength = 200;

function fill(text: string, values: Record<string, unknown>, formatTime: (time: Date) => string): string | undefined {
  let isWhole = true;
  const filled = text.replace(/\{([a-zA-Z]{1,30})\}/g, (_all, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const shown = name.endsWith('At') ? timeOf(value, formatTime) : value;
    if (typeof shown === 'string' || typeof shown === 'number') return String(shown).slice(0, maxValueLength);
    isWhole = false;
    return '';
  });
  return isWhole ? filled : undefined;
}

function timeOf(value: unknown, formatTime: (time: Date) => string): string | undefined {
  const time = typeof value === 'string' ? new Date(value) : undefined;
  return time === undefined || Number.isNaN(time.getTime()) ? undefined : formatTime(time);
}

function formatUtc(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[a-zA-Z_]{1,40}$/.test(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
