import 'virtual:texts/usage';
import type { Budget } from '@homeport/contracts/usage';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../api/api.ts';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { FormFailure } from '../forms/notice.tsx';
import { failureText } from '../i18n/failure-text.ts';
import { type Translate, useText } from '../i18n/i18n.ts';
import { Card, EmptyState, focusSectionTitle, Section } from '../layout/section.tsx';
import { showFailure, showToast } from '../layout/toasts.tsx';
import { BudgetForm } from './budget-form.tsx';
import { isSame } from './budget-values.ts';
import { TurnBudgetCard } from './turn-budget-card.tsx';
import classes from './usage.module.css';
import { amountText } from './usage-labels.ts';
import { budgetsQuery } from './usage-queries.ts';

type Kept = Pick<Budget, 'scope' | 'userId' | 'unit' | 'period' | 'limit'>;

/** `/settings/admin/budgets` */
export function BudgetsPage() {
  const t = useText();
  const queries = useQueryClient();
  const { data, error } = useQuery(budgetsQuery);
  const save = async (budgets: readonly Kept[]) => {
    const body = {
      budgets: budgets.map(({ scope, userId, unit, period, limit }) => ({ scope, userId, unit, period, limit })),
    };
    queries.setQueryData(budgetsQuery.queryKey, await call('PUT /api/admin/budgets', { body }));
    showToast(t('budget.saved'));
  };
  const remove = async (budgets: readonly Budget[], gone: Budget) => {
    try {
      await save(budgets.filter((budget) => !isSame(budget, gone)));
      focusSectionTitle();
    } catch (failure) {
      showFailure(t('settings.changeFailed'), failureText(failure, t));
    }
  };
  return (
    <Section title={t('settings.budgets')} text={t('budget.text')}>
      {error && !data ? <FormFailure failure={error} /> : null}
      {data || error ? null : <Loading />}
      {data ? (
        <>
          {data.budgets.length === 0 ? (
            <EmptyState title={t('budget.emptyTitle')} text={t('budget.emptyText')} />
          ) : (
            <Card title={t('budget.title')}>
              <ul className={classes.budgets}>
                {data.budgets.map((budget) => (
                  <li key={`${budget.scope} ${budget.userId} ${budget.unit} ${budget.period}`}>
                    <BudgetRow budget={budget} onRemove={() => void remove(data.budgets, budget)} />
                  </li>
                ))}
              </ul>
            </Card>
          )}
          <BudgetForm budgets={data.budgets} onAdd={(added) => save([...data.budgets, added])} />
          <TurnBudgetCard />
        </>
      ) : null}
    </Section>
  );
}

function BudgetRow({ budget, onRemove }: { budget: Budget; onRemove: () => void }) {
  const t = useText();
  const { scope, unit, limit, spent, name, email } = budget;
  const whom = scope === 'person' ? (name ?? t('usage.deleted')) : t(`budget.scope.${scope}`);
  const what = limitText(budget, t);
  return (
    <>
      <div className={classes.row}>
        <div>
          <p className={classes.budgetName}>
            <bdi>{whom}</bdi>: {what}
          </p>
          {email ? <p className={classes.hint}>{email}</p> : null}
        </div>
        <Button
          variant="default"
          size="compact-sm"
          onClick={onRemove}
          aria-label={t('budget.removeNamed', { name: `${whom}, ${what}` })}
        >
          {t('budget.remove')}
        </Button>
      </div>
      {spent === null || limit === null ? null : (
        <>
          <progress
            className={classes.progress}
            max={100}
            value={limit === 0 ? 100 : Math.min((spent / limit) * 100, 100)}
            data-state={spent >= limit ? 'over' : spent >= limit * 0.8 ? 'near' : undefined}
            aria-label={whom}
          />
          <p className={classes.hint}>
            {t('budget.usedOf', { spent: amountText(spent, unit, t), limit: amountText(limit, unit, t) })}
          </p>
        </>
      )}
    </>
  );
}

function limitText({ unit, period, limit }: Budget, t: Translate): string {
  if (limit === null) return `${t('budget.noLimit')} (${t(`budget.unit.${unit}`)}, ${t(`budget.period.${period}`)})`;
  return t(period === 'day' ? 'budget.perDay' : 'budget.perMonth', { limit: amountText(limit, unit, t) });
}
