import { dollars } from '../dollars.ts';
import { dateLocale, numberLocale } from '../i18n/format-locale.ts';
import type { Translate } from '../i18n/i18n.ts';

/** Numbers of usage as people read them. */

export function costText(cost: number | null, t: Translate): string {
  return cost === null ? t('usage.unknown') : dollars(cost, numberLocale());
}

export function countText(count: number): string {
  return new Intl.NumberFormat(numberLocale()).format(count);
}

export function amountText(amount: number, unit: 'tokens' | 'cost', t: Translate): string {
  return unit === 'cost' ? dollars(amount, numberLocale()) : t('usage.tokens', { count: amount });
}

/** `2026-03-01` as a day for people. */
export function dayText(day: string): string {
  return new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(day));
}

export function resetText(at: string): string {
  return new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at));
}
