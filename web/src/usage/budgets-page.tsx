import 'virtual:texts/usage';
import type { Budget } from '@homeport/contracts/usage';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { FormFailure } from '../forms/notice.tsx';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { ConfirmDialog } from '../layout/dialogs/confirm-dialog.tsx';
import { Card, EmptyState, focusSectionTitle, Section } from '../layout/section.tsx';
import { showFailure } from '../layout/toasts.tsx';
import { OperationCard } from '../operation/operation-card.tsx';
import { BudgetForm } from './budget-form.tsx';
import { BudgetRow } from './budget-row.tsx';
import { isSame } from './budget-values.ts';
import { TurnBudgetCard } from './turn-budget-card.tsx';
import classes from './usage.module.css';
import { budgetName } from './usage-labels.ts';
import { budgetsQuery } from './usage-queries.ts';
import { useBudgetChanges } from './use-budget-changes.tsx';

/** `/settings/admin/budgets` */
export function BudgetsPage() {
  const t = useText();
  const { data, error } = useQuery(budgetsQuery);
  const { save, question } = useBudgetChanges();
  const [edited, setEdited] = useState<Budget>();
  const [removed, setRemoved] = useState<Budget>();
  const budgets = data?.budgets ?? [];
  const others = (budget: Budget) => budgets.filter((each) => !isSame(each, budget));
  const remove = async (budget: Budget) => {
    setRemoved(undefined);
    try {
      if (await save(others(budget))) focusSectionTitle();
    } catch (failure) {
      showFailure(t('settings.changeFailed'), failureText(failure, t));
    }
  };
  return (
    <Section title={t('settings.budgets')} text={t('budget.text')}>
      {error && !data ? <FormFailure failure={error} /> : null}
      {data || error ? null : <Loading />}
      {data && budgets.length === 0 ? <EmptyState title={t('budget.emptyTitle')} text={t('budget.emptyText')} /> : null}
      {budgets.length > 0 ? (
        <Card title={t('budget.title')}>
          <ul className={classes.budgets}>
            {budgets.map((budget) => (
              <li key={`${budget.scope} ${budget.userId} ${budget.unit} ${budget.period}`}>
                {edited !== undefined && isSame(edited, budget) ? (
                  <BudgetForm
                    budgets={others(budget)}
                    edited={budget}
                    onSave={async (changed) => {
                      const isSaved = await save([...others(budget), changed]);
                      if (isSaved) setEdited(undefined);
                      return isSaved;
                    }}
                    onCancel={() => setEdited(undefined)}
                  />
                ) : (
                  <BudgetRow budget={budget} onEdit={() => setEdited(budget)} onRemove={() => setRemoved(budget)} />
                )}
              </li>
            ))}
          </ul>
        </Card>
      ) : null}
      {data && edited === undefined ? (
        <Card title={t('budget.add')}>
          <BudgetForm budgets={budgets} onSave={(added) => save([...budgets, added])} />
        </Card>
      ) : null}
      {data ? <TurnBudgetCard /> : null}
      {data ? (
        <OperationCard
          title="operation.files"
          text="operation.filesText"
          names={['artifactMaxUploadBytes', 'artifactQuotaMb']}
        />
      ) : null}
      {removed ? (
        <ConfirmDialog
          title={t('budget.removeTitle')}
          text={t('budget.removeText', { name: budgetName(removed, t) })}
          confirmLabel={t('budget.removeConfirm')}
          onConfirm={() => void remove(removed)}
          onClose={() => setRemoved(undefined)}
        />
      ) : null}
      {question}
    </Section>
  );
}
