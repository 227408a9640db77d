let dates = 'en';
let numbers = 'en';

/** The locale of dates and times, such as `en-GB`. */
export function dateLocale(): string {
  return dates;
}

/** The locale of numbers, which also stand inside texts: one of the language on the screen. */
export function numberLocale(): string {
  return numbers;
}

export function setFormatLocales(locales: { dates: string; numbers: string }): void {
  ({ dates, numbers } = locales);
}
