import { readXml } from './xml.ts';

/** How cells show their numbers, as far as it changes what they mean: dates, times and percentages. */
export type CellStyles = { show(style: number, value: string): string };

const dayMs = 86_400_000;
/** Excel has at most 65,490. */
const mostStyles = 100_000;
const builtIn = new Map<number, 'date' | 'percent'>([
  ...[14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47].map((id) => [id, 'date'] as const),
  [9, 'percent'],
  [10, 'percent'],
]);

export function readCellStyles(bytes: Buffer | undefined, epoch: number): CellStyles {
  const formats = new Map(builtIn);
  const cells: ('date' | 'percent' | undefined)[] = [];
  let inCells = false;
  readXml(bytes ?? Buffer.alloc(0), {
    open(name, { numFmtId, formatCode }) {
      if (name === 'numFmt' && formats.size < mostStyles) {
        const kind = kindOf(formatCode ?? '');
        if (kind !== undefined) formats.set(Number(numFmtId), kind);
      } else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells && cells.length < mostStyles) cells.push(formats.get(Number(numFmtId)));
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return {
    show(style, value) {
      const number = Number(value);
      if (!Number.isFinite(number)) return value;
      if (cells[style] === 'percent') return `${Number((number * 100).toPrecision(12))} %`;
      return cells[style] === 'date' ? showDate(number, epoch) : plain(number, value);
    },
  };
}

function kindOf(format: string): 'date' | 'percent' | undefined {
  const bare = format.replace(/"[^"]*"|\\.|\[[^[\]]*\]/g, '');
  if (bare.includes('%')) return 'percent';
  return /[ymdhs]/i.test(bare) && !/general/i.test(bare) ? 'date' : undefined;
}

/** 0.1 + 0.2 is stored with all its digits. */
function plain(number: number, value: string): string {
  return value.length > 15 ? String(Number(number.toPrecision(15))) : value;
}

/** Days are counted from the last day of 1899, or the first of 1904; 1900 has a day too many there. */
function showDate(days: number, epoch: number): string {
  const first = epoch === 1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30);
  const at = new Date(first + Math.round(days * dayMs));
  if (Number.isNaN(at.getTime())) return String(days);
  const text = at.toISOString();
  const time = text.slice(11, text.endsWith(':00.000Z') ? 16 : 19);
  if (days >= 0 && days < 1) return time;
  return Number.isInteger(days) ? text.slice(0, 10) : `${text.slice(0, 10)} ${time}`;
}
