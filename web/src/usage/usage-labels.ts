import { dollars } from '../dollars.ts';
import { i18n, type Translate } from '../i18n/i18n.ts';

/** Numbers of usage as people read them. */

export function costText(cost: number | null, t: Translate): string {
  return cost === null ? t('usage.unknown') : dollars(cost, i18n.locale);
}

export function countText(count: number): string {
  return new Intl.NumberFormat(i18n.locale).format(count);
}

export function amountText(amount: number, unit: 'tokens' | 'cost', t: Translate): string {
  return unit === 'cost' ? dollars(amount, i18n.locale) : t('usage.tokens', { count: amount });
}

/** `2026-03-01` as a day for people. */
export function dayText(day: string): string {
  return new Intl.DateTimeFormat(i18n.locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(day));
}

export function resetText(at: string): string {
  return new Intl.DateTimeFormat(i18n.locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at));
}
