import { catalogues } from 'virtual:catalogues';
import { useLingui } from '@lingui/react';
import { chooseFormats, chooseLocale, type Locale, locales } from './choose-locale.ts';
import { loadErrorTexts } from './error-texts.ts';
import { setFormatLocales } from './format-locale.ts';
import { i18n } from './i18n.ts';

const storageKey = 'language';

/** Activates this browser's language before the first render, so that nothing appears in another one. */
export async function activateStoredLocale(): Promise<void> {
  const stored = readStored();
  await activate(chooseLocale(stored, navigator.languages), stored !== null);
}

/** The language on the screen, the others, and how to change it for this browser. */
export function useLocale() {
  const { i18n: active } = useLingui();
  const locale = chooseLocale(active.locale, []);
  const setLocale = async (next: Locale) => {
    await activate(next, true);
    try {
      localStorage.setItem(storageKey, next);
    } catch {
      // Not stored, so the choice lasts as long as the page.
    }
  };
  return { locale, others: locales.filter((other) => other.locale !== locale), setLocale };
}

async function activate(locale: Locale, isChosen: boolean): Promise<void> {
  const load = catalogues[locale];
  // Failures are worded in English until their texts are there.
  const errorTexts = loadErrorTexts(locale).catch(() => undefined);
  if (load !== undefined) {
    i18n.load(locale, (await load()).default);
    await errorTexts;
  }
  const dates = chooseFormats(locale, isChosen, navigator.languages);
  // Plurals follow the same locale as the numbers in a text.
  const numbers = dates.startsWith(locale) ? dates : locale;
  setFormatLocales({ dates, numbers });
  i18n.activate(locale, numbers);
  document.documentElement.lang = locale;
}

function readStored(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}
