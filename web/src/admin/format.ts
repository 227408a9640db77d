import { dateLocale } from '../i18n/format-locale.ts';

/** A time for people, in this browser's language and time zone. */
export function formatTime(at: string): string {
  return new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at));
}

export function formatDay(at: string): string {
  return new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium' }).format(new Date(at));
}
