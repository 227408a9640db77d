import { numberLocale } from '../i18n/format-locale.ts';

/** A size in decimal units, as disks are sold: `38 GB`. */
export function sizeText(bytes: number): string {
  const [value, unit] =
    bytes < 1e6
      ? [bytes / 1e3, 'kilobyte']
      : bytes < 1e9
        ? [bytes / 1e6, 'megabyte']
        : bytes < 1e12
          ? [bytes / 1e9, 'gigabyte']
          : [bytes / 1e12, 'terabyte'];
  const maximumFractionDigits = value < 10 ? 1 : 0;
  return new Intl.NumberFormat(numberLocale(), { style: 'unit', unit, maximumFractionDigits }).format(value);
}
