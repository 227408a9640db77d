import { numberLocale } from '../../i18n/format-locale.ts';

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** `1.2 MB` in the current language. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let at = 0;
  while (value >= 1000 && at < units.length - 1) {
    value /= 1000;
    at += 1;
  }
  const digits = at === 0 || value >= 100 ? 0 : 1;
  const format = {
    style: 'unit',
    unit: units[at],
    unitDisplay: at === 0 ? 'long' : 'short',
    maximumFractionDigits: digits,
  } as const;
  return new Intl.NumberFormat(numberLocale(), format).format(value);
}
