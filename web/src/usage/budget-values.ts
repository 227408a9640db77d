import type { Budget } from '@homeport/contracts/usage';

/** A budget as it is typed. */
export type BudgetValues = {
  scope: Budget['scope'];
  email: string;
  unit: Budget['unit'];
  period: Budget['period'];
  limit: string;
  stopsAdministrators: boolean;
};

export const emptyBudget: BudgetValues = {
  scope: 'everyone',
  email: '',
  unit: 'cost',
  period: 'month',
  limit: '',
  stopsAdministrators: false,
};

/** A stored budget as it would be typed. */
export function valuesOf({ scope, email, unit, period, limit, stopsAdministrators }: Budget): BudgetValues {
  return { scope, email: email ?? '', unit, period, limit: typedLimit(limit, unit), stopsAdministrators };
}

function typedLimit(limit: number | null, unit: Budget['unit']): string {
  if (limit === null || unit === 'tokens') return limit === null ? '' : String(limit);
  const [whole = '', fraction = ''] = (limit / 1_000_000).toFixed(6).split('.');
  // regex-bound: six digits
  const digits = fraction.replace(/0+$/, '').padEnd(2, '0');
  // Three digits could be thousands.
  return `${whole}.${digits.length === 3 ? `${digits}0` : digits}`;
}

const mostMicros = 1_000_000_000_000_000;

/** Tokens or millionths of a dollar; null: no limit; undefined: not a number that fits. */
export function limitOf({ scope, unit, limit }: BudgetValues): number | null | undefined {
  const text = limit.trim().replace(/^\$/, '').replace(',', '.');
  if (text === '') return scope === 'person' ? null : undefined;
  // Three digits after a separator: thousands to some, thousandths to others.
  if (!/^\d{1,15}(?:\.\d{1,6})?$/.test(text) || /\.\d{3}$/.test(text)) return undefined;
  const amount = unit === 'cost' ? Math.round(Number(text) * 1_000_000) : Number(text);
  return Number.isInteger(amount) && amount <= mostMicros ? amount : undefined;
}

type Kind = Pick<Budget, 'scope' | 'userId' | 'unit' | 'period'>;

/** Only one of a kind can exist. */
export function isSame(one: Kind, other: Kind): boolean {
  return (
    one.scope === other.scope && one.userId === other.userId && one.unit === other.unit && one.period === other.period
  );
}
