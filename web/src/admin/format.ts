import { i18n } from '../i18n.ts';

/** A moment for people, in the language and the time zone of this browser. */
export function formatTime(at: string): string {
  return new Intl.DateTimeFormat(i18n.locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at));
}

export function formatDay(at: string): string {
  return new Intl.DateTimeFormat(i18n.locale, { dateStyle: 'medium' }).format(new Date(at));
}
