import { limits } from '@homeport/contracts/limits';

/** Tolerant readers of JSON from other programs: a value that is missing or of another type counts as absent. */

export type Members = Readonly<Record<string, unknown>>;
const nothing: Members = {};

const [firstYear, lastYear] = [Date.UTC(1990, 0, 1), Date.UTC(2200, 0, 1)];
const jsonDepth = 40;
const nameMax = 200;

/** The members of an object; none if it is no object. */
export function members(value: unknown): Members {
  return isMembers(value) ? value : nothing;
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Text that a database accepts; empty if it is none. */
export function text(value: unknown): string {
  return typeof value === 'string' ? cleaned(value) : '';
}

/** A name or an id of bounded length; undefined if it is none. */
export function name(value: unknown, most = nameMax): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  const given = text(value).replace(/\s+/g, ' ').trim();
  return given === '' ? undefined : cut(given, most);
}

export function title(value: unknown): string {
  return name(value, limits.titleMax) ?? 'Untitled conversation';
}

function cut(value: string, most: number): string {
  return value.length <= most ? value : [...value.slice(0, most * 2)].slice(0, most).join('').toWellFormed();
}

/** Instructions as far as Homeport keeps them. */
export function instructions(value: unknown): string | null {
  return text(value).trim().slice(0, limits.instructionsMax).toWellFormed() || null;
}

function cleaned(value: string): string {
  return value.toWellFormed().replaceAll('\u0000', '\ufffd');
}

/** Seconds or milliseconds since 1970, or RFC 3339, as an ISO time; null for invalid or implausible times. */
export function time(value: unknown): string | null {
  if (typeof value === 'number') return validTime(value > 1e11 ? value : value * 1000);
  if (typeof value !== 'string' || value.length > 40 || !/^\d{4}-\d\d-\d\d/.test(value)) return null;
  return validTime(Date.parse(value));
}

function validTime(millis: number): string | null {
  if (!Number.isFinite(millis) || millis < firstYear || millis > lastYear) return null;
  return new Date(Math.round(millis)).toISOString();
}

/** A later time by one millisecond. */
export function justAfter(isoTime: string | null): string | null {
  return isoTime === null ? null : new Date(Date.parse(isoTime) + 1).toISOString();
}

/** Any JSON value with clean texts; values nested too deeply become text. */
export function json(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return cleaned(value);
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (depth >= jsonDepth) return '…';
  if (Array.isArray(value)) return value.map((item) => json(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [cleaned(key), json(item, depth + 1)]));
}

/** The parsed value of a text that is a JSON object or list, else the text itself. */
export function jsonOrText(value: string): unknown {
  if (!/^\s*[[{]/.test(value)) return cleaned(value);
  try {
    return json(JSON.parse(value));
  } catch {
    return cleaned(value);
  }
}

/** An address that is safe to show as a link. */
function webAddress(value: unknown): string | undefined {
  const address = text(value).trim();
  if (address.length > 4096 || !/^https?:\/\//i.test(address) || !URL.canParse(address)) return undefined;
  return new URL(address).href.replace(/[()\s<>]/g, (character) =>
    encodeURIComponent(character).replace('(', '%28').replace(')', '%29'),
  );
}

/** A link in Markdown; the label alone if the address is none. */
export function link(label: unknown, address: unknown): string {
  const href = webAddress(address);
  const words = (name(label) ?? '').replace(/[[\]\\`*_<>]/g, '\\$&');
  if (href === undefined) return words;
  return `[${words === '' ? new URL(href).hostname : words}](${href})`;
}
