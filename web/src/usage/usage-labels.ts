import type { Budget } from '@homeport/contracts/usage';
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

function amountText(amount: number, unit: 'tokens' | 'cost', t: Translate): string {
  return unit === 'cost' ? dollars(amount, numberLocale()) : t('usage.tokens', { count: amount });
}

/** How much of a budget is used: `121,885 of 5,000 tokens used`. */
export function usedText(spent: number, limit: number, unit: 'tokens' | 'cost', t: Translate): string {
  if (unit === 'tokens') return t('budget.tokensUsed', { spent, limit });
  return t('budget.usedOf', { spent: amountText(spent, unit, t), limit: amountText(limit, unit, t) });
}

/** `2026-03-01` as a day for people. */
export function dayText(day: string): string {
  return new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(day));
}

export function resetText(at: string): string {
  return new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at));
}

/** For whom a budget is, and its limit: `Each person: 5,000 tokens a day`. */
export function budgetName({ scope, name, unit, period, limit }: Budget, t: Translate): string {
  const whom = scope === 'person' ? (name ?? t('usage.deleted')) : t(`budget.scope.${scope}`);
  if (limit === null) {
    return `${whom}: ${t('budget.noLimit')} (${t(`budget.unit.${unit}`)}, ${t(`budget.period.${period}`)})`;
  }
  return `${whom}: ${t(period === 'day' ? 'budget.perDay' : 'budget.perMonth', { limit: amountText(limit, unit, t) })}`;
}
