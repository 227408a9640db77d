import { i18n } from '../i18n/i18n.ts';

/** A time for people, in this browser's language and time zone. */
export function formatTime(at: string): string {
  return new Intl.DateTimeFormat(i18n.locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at));
}

export function formatDay(at: string): string {
  return new Intl.DateTimeFormat(i18n.locale, { dateStyle: 'medium' }).format(new Date(at));
}
