import type { Check } from '@homeport/contracts/checks';
import type { Overview } from '@homeport/contracts/operations';

/** The entries of "Needs attention", the most urgent first. */
export type Attention =
  | { kind: 'check'; check: Check }
  | { kind: 'maintenance' }
  | { kind: 'outage'; outage: Overview['outages'][number] }
  | { kind: 'budget'; budget: Overview['budgets'][number]; percent: number }
  | { kind: 'without-model'; count: number };

const nearPercent = 80;

/** `checks` is undefined while the installation is being checked. */
export function attentionOf(overview: Overview, checks: readonly Check[] | undefined): Attention[] {
  const found = (state: Check['state']): Attention[] =>
    (checks ?? []).filter((check) => check.state === state).map((check) => ({ kind: 'check', check }));
  const { outages, budgets, people, isMaintained } = overview;
  return [
    ...found('failed'),
    ...(isMaintained ? [{ kind: 'maintenance' } as const] : []),
    ...outages.map((outage): Attention => ({ kind: 'outage', outage })),
    ...budgets
      .map((budget): Attention & { percent: number } => ({ kind: 'budget', budget, percent: percentOf(budget) }))
      .filter(({ percent }) => percent >= nearPercent),
    ...(people.withoutModel > 0 ? [{ kind: 'without-model', count: people.withoutModel } as const] : []),
    ...found('warning'),
  ];
}

function percentOf({ limit, spent }: Overview['budgets'][number]): number {
  return limit === 0 ? 100 : Math.floor((spent / limit) * 100);
}
