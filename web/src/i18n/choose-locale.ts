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

/**
 * The locale of dates, times and numbers: the browser's own of this language, with its region (`en-GB`). With another
 * language, that of the browser if there was no choice, else the chosen language with the region of the browser.
 */
export function chooseFormats(locale: Locale, isChosen: boolean, languages: readonly string[]): string {
  const known = languages.filter((tag) => isSupported(tag));
  const own = known.find((tag) => tag.toLowerCase().split('-')[0] === locale);
  if (own !== undefined) return own;
  const [first] = known;
  if (first === undefined) return locale;
  if (!isChosen) return first;
  const { region } = new Intl.Locale(first);
  const regional = `${locale}-${region}`;
  return region !== undefined && hasData(regional) ? regional : locale;
}

function isSupported(tag: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

/** For a pair without data of its own, such as Swedish in Chile, the formats would be those of another country. */
function hasData(tag: string): boolean {
  return new Intl.DateTimeFormat(tag).resolvedOptions().locale === tag;
}
