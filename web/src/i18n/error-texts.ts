import { type ErrorTexts, wordError } from '@homeport/contracts/error-texts/word-error';
import type { Locale } from './choose-locale.ts';
import { dateLocale } from './format-locale.ts';

const loaders: Record<Locale, () => Promise<ErrorTexts>> = {
  en: async () => (await import('@homeport/contracts/error-texts/english')).english,
  de: async () => {
    const [{ german }, { germanNotices }] = await Promise.all([
      import('@homeport/contracts/error-texts/german'),
      import('@homeport/contracts/error-texts/german-notices'),
    ]);
    return { ...german, ...germanNotices };
  },
};

let loaded: { locale: Locale; texts: ErrorTexts } | undefined;

/** Loads the texts of failures. Until they are there, failures have the server's English text. */
export async function loadErrorTexts(locale: Locale): Promise<void> {
  const texts = await loaders[locale]();
  loaded = { locale, texts };
}

/** Words a failure for people who don't manage models and tools; undefined: the usual text. */
export type PlainWording = (failure: Failure) => string | undefined;
let plainWording: PlainWording | undefined;

/** Words failures for a person who cannot fix their causes; undefined ends it. */
export function setPlainWording(wording: PlainWording | undefined): void {
  plainWording = wording;
}

/** Whether the reader is a person to whom technical causes are not shown. */
export function hasPlainWording(): boolean {
  return plainWording !== undefined;
}

/** A failure in words: its code, the server's English text, and its facts. */
export type Failure = { code: string; message: string; details?: unknown };

/**
 * The text for people. English keeps the server's own text, which is often more precise, unless a reason is known; other
 * languages have a text for every code.
 */
export function wordFailure(failure: Failure): string {
  const { code, message, details } = failure;
  const plain = plainWording?.(failure);
  if (plain !== undefined) return plain;
  if (loaded === undefined) return message;
  const worded = wordError(loaded.texts, code, details, formatTime);
  const isGeneric = worded === wordError(loaded.texts, code, undefined, formatTime);
  if (worded === undefined || (loaded.locale === 'en' && isGeneric && message !== '')) return message;
  return worded;
}

function formatTime(time: Date): string {
  const isToday = time.toDateString() === new Date().toDateString();
  const style = isToday ? ({ timeStyle: 'short' } as const) : ({ dateStyle: 'medium', timeStyle: 'short' } as const);
  return new Intl.DateTimeFormat(dateLocale(), style).format(time);
}

/** More about a failure for those who want to know: the provider's sentence, or the server's if it was not shown. */
export function failureDetail(failure: Failure): string | undefined {
  if (plainWording?.(failure) !== undefined) return undefined;
  const said = memberOf(failure.details, 'providerMessage');
  if (typeof said === 'string' && said !== '') return said;
  if (loaded === undefined || loaded.locale === 'en' || failure.message === '') return undefined;
  const isGeneric = wordFailure(failure) === wordError(loaded.texts, failure.code, undefined);
  return isGeneric && failure.code !== 'internal_error' ? failure.message : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
