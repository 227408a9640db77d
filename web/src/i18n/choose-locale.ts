export const locales = [
  { locale: 'en', name: 'English' },
  { locale: 'de', name: 'Deutsch' },
] as const;
export type Locale = (typeof locales)[number]['locale'];

/** The language chosen here before, otherwise the first of the browser's languages that we have, otherwise English. */
export function chooseLocale(stored: string | null, languages: readonly string[]): Locale {
  const wanted = [stored ?? '', ...languages].map((language) => language.toLowerCase().split('-')[0]);
  for (const language of wanted) {
    const known = locales.find(({ locale }) => locale === language);
    if (known) return known.locale;
  }
  return 'en';
}
