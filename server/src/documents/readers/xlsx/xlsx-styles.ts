import { format, getFormatFromId, isDateFormat, isPercentFormat, isValidFormat } from 'numfmt';
import { readXml } from '../xml.ts';

/** Numbers as cells show them; dates in the form of ISO 8601, which means the same everywhere. */
export type CellStyles = { show(style: number, value: string): string };
type Style = { kind: 'date' | 'percent' | 'other'; code: string };

const dayMs = 86_400_000;
/** Excel has at most 65,490. */
const mostStyles = 100_000;
/** Excel allows 255 characters. */
const longestCode = 300;

export function readCellStyles(bytes: Buffer | undefined, epoch: number): CellStyles {
  const codes = new Map<number, string>();
  const cells: (Style | undefined)[] = [];
  let inCells = false;
  readXml(bytes ?? Buffer.alloc(0), {
    open(name, { numFmtId, formatCode }) {
      if (name === 'numFmt' && codes.size < mostStyles) codes.set(Number(numFmtId), formatCode ?? '');
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells && cells.length < mostStyles) cells.push(styleOf(Number(numFmtId), codes));
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return {
    show(style, value) {
      const number = Number(value);
      if (!Number.isFinite(number)) return value;
      const { kind, code } = cells[style] ?? { kind: 'other', code: '' };
      if (kind === 'percent') return `${Number((number * 100).toPrecision(12))} %`;
      if (kind === 'date') return showDate(number, epoch);
      return code === '' ? plain(number, value) : shown(number, code);
    },
  };
}

const known = new Map<string, Style | undefined>();

function styleOf(id: number, codes: ReadonlyMap<number, string>): Style | undefined {
  const code = codes.get(id) ?? builtIn(id);
  if (known.has(code)) return known.get(code);
  const style = readCode(code);
  if (known.size < mostStyles) known.set(code, style);
  return style;
}

function builtIn(id: number): string {
  // 27 to 36 and 50 to 58 are dates in East Asian languages.
  if ((id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return 'yyyy-mm-dd';
  return String(getFormatFromId(id) ?? 'General');
}

/** Undefined for numbers that are shown as they are. */
function readCode(given: string): Style | undefined {
  // The language of a format changes its separators; its currency is kept.
  const code = given
    .slice(0, longestCode + 1)
    .replace(/\[\$([^\][-]*)(?:-[^\][]*)?\]/g, (_, sign: string) => (sign === '' ? '' : `"${sign}"`));
  if (/^(?:general|@|)$/i.test(code.trim()) || code.length > longestCode || !isValidFormat(code)) return undefined;
  const isElapsed = /\[(?:h+|m+|s+)\]/i.test(code);
  if (!isElapsed && isDateFormat(code)) return { kind: 'date', code };
  return { kind: isPercentFormat(code) ? 'percent' : 'other', code };
}

/** Negative numbers keep their sign, where a format shows them in parentheses or red. */
function shown(number: number, code: string): string {
  const text = String(format(code, number, { throws: false })).trim();
  if (text === '' || /^#+$/.test(text)) return String(number);
  if (number >= 0 || /[-−]/.test(text) || !/[1-9]/.test(text)) return text;
  return `-${text.replace(/^\((.*)\)$/, '$1').trim()}`;
}

/** 0.1 + 0.2 is stored with all its digits. */
function plain(number: number, value: string): string {
  return value.length > 15 ? String(Number(number.toPrecision(15))) : value;
}

/** Days are counted from the last day of 1899, or the first of 1904; 1900 has a day too many there. */
function showDate(days: number, epoch: number): string {
  const first = epoch === 1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 && days >= 1 ? 31 : 30);
  const at = new Date(first + Math.round(days * dayMs));
  if (Number.isNaN(at.getTime())) return String(days);
  const text = at.toISOString();
  const time = text.slice(11, text.endsWith(':00.000Z') ? 16 : 19);
  if (days >= 0 && days < 1) return time;
  return Number.isInteger(days) ? text.slice(0, 10) : `${text.slice(0, 10)} ${time}`;
}
