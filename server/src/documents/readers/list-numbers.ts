/** Numbers of lists as word processors show them. */

/** `text` has %1 to %9 in the places of the numbers of the levels, as in Word. */
export type ListLevel = { format: string; text: string; start: number; isLegal?: boolean };

const deepestLevel = 9;
const highest = 100_000;

const bulletMark = '-';

/** Counts the items of one list; `next` returns the label of the next item of a level. */
export class ListCounter {
  readonly #counts: (number | undefined)[] = [];
  readonly #labels: string[] = [];

  /** `start` starts the level again with that number. */
  next(levels: readonly (ListLevel | undefined)[], level: number, start?: number): string {
    const known = levels[level];
    if (known === undefined || level >= deepestLevel) return '';
    const before = this.#counts[level];
    this.#counts[level] = Math.min(highest, start ?? (before === undefined ? known.start : before + 1));
    this.#counts.length = level + 1;
    const label = this.#labelOf(levels, known);
    this.#labels.length = level;
    this.#labels[level] = label;
    return this.#inContext(label, level);
  }

  #labelOf(levels: readonly (ListLevel | undefined)[], known: ListLevel): string {
    if (known.format === 'bullet') return bulletMark;
    return known.text.replace(/%([1-9])/g, (_, digit: string) => {
      const at = Number(digit) - 1;
      const number = this.#counts[at] ?? levels[at]?.start ?? 1;
      return formatNumber(number, known.isLegal === true ? 'decimal' : (levels[at]?.format ?? 'decimal'));
    });
  }

  /** "(a)" below "4.2" is cited as "4.2(a)", which no other clause is called. */
  #inContext(label: string, level: number): string {
    if (!/^\(?[\p{L}\p{N}]{1,6}\)$/u.test(label)) return label;
    for (let above = level - 1; above >= 0; above -= 1) {
      const outer = this.#labels[above] ?? '';
      if (/^\(?[\p{L}\p{N}]{1,6}\)$/u.test(outer)) label = `${outer}${label}`;
      else return /\d$/.test(outer.replace(/\.$/, '')) ? `${outer.replace(/\.$/, '')}${label}` : label;
    }
    return label;
  }
}

function formatNumber(number: number, format: string): string {
  if (format === 'none' || format === 'bullet') return '';
  if (format === 'decimalZero') return String(number).padStart(2, '0');
  if (format === 'ordinal') return `${number}${ordinalEnding(number)}`;
  if (format === 'upperRoman') return roman(number);
  if (format === 'lowerRoman') return roman(number).toLowerCase();
  if (format === 'upperLetter') return letters(number);
  if (format === 'lowerLetter') return letters(number).toLowerCase();
  return String(number);
}

/** After Z come AA, BB, CC. */
function letters(number: number): string {
  if (number < 1) return String(number);
  return String.fromCharCode(65 + ((number - 1) % 26)).repeat(Math.min(20, Math.ceil(number / 26)));
}

const romans: [value: number, sign: string][] = [
  [1000, 'M'],
  [900, 'CM'],
  [500, 'D'],
  [400, 'CD'],
  [100, 'C'],
  [90, 'XC'],
  [50, 'L'],
  [40, 'XL'],
  [10, 'X'],
  [9, 'IX'],
  [5, 'V'],
  [4, 'IV'],
  [1, 'I'],
];

function roman(number: number): string {
  if (number < 1 || number > 3_999) return String(number);
  let text = '';
  let rest = number;
  for (const [value, sign] of romans) {
    text += sign.repeat(Math.floor(rest / value));
    rest %= value;
  }
  return text;
}

function ordinalEnding(number: number): string {
  if (number % 100 >= 11 && number % 100 <= 13) return 'th';
  return ['th', 'st', 'nd', 'rd'][number % 10] ?? 'th';
}
