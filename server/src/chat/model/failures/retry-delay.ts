/** Longest pause before the same request is sent again. A longer one ends the answer, with the time. */
export const maxRetryDelaySeconds = 60;

const maxSeconds = 400 * 24 * 3600;

/** Seconds until a retry makes sense, from seconds or an HTTP date (RFC 9110, 10.2.3). */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (text === '') return undefined;
  const ms = /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.ceil(Math.max(ms, 0) / 1000), maxSeconds);
}

const units: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };
const lead = /\b(?:try again|retry|retrying|wait)(?: (?:in|after|for|about|at least|approximately)){0,2} /gi;
const spelling =
  /^(?:\d{1,6}(?:\.\d{1,12})? ?(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)(?![a-z])(?: and |, | )?){1,4}/i;
const amount = /(\d{1,6}(?:\.\d{1,12})?) ?(milliseconds?|ms|[smhd])/gi;

/** Seconds until a retry makes sense, according to a refusal's text, such as `Please try again in 7m54.3s`. */
export function retryDelayIn(text: string): number | undefined {
  const given = /"retry_?(?:Delay|after)"\s?:\s?"?(\d{1,6}(?:\.\d{1,9})?)s?"?/i.exec(text)?.[1];
  if (given !== undefined) return Math.ceil(Number(given));
  for (const found of text.slice(0, 64 * 1024).matchAll(lead)) {
    const rest = text.slice(found.index + found[0].length, found.index + found[0].length + 60);
    const spelled = spelling.exec(rest)?.[0];
    if (spelled !== undefined) return Math.min(secondsIn(spelled), maxSeconds);
  }
  return undefined;
}

function secondsIn(spelled: string): number {
  let seconds = 0;
  for (const [, value, unit = 's'] of spelled.matchAll(amount)) {
    const short = unit.toLowerCase().startsWith('mil') ? 'ms' : unit.toLowerCase();
    seconds += Number(value) * (units[short] ?? 1);
  }
  return Math.ceil(seconds);
}

/** The time at which an exhausted account works again, if the text states one. */
export function retryTimeIn(text: string): string | undefined {
  const found =
    /\b(?:regain access|resets?|available again)\b[^\d]{0,20}(\d{4}-\d\d-\d\d)(?: at |T| )?(\d\d:\d\d)?/i.exec(text);
  const time = found === null ? Number.NaN : Date.parse(`${found[1]}T${found[2] ?? '00:00'}:00Z`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
