import type { BudgetPreview } from '@homeport/contracts/usage';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { dateLocale } from '../i18n/format-locale.ts';
import { type Translate, useText } from '../i18n/i18n.ts';
import { ConfirmDialog } from '../layout/dialogs/confirm-dialog.tsx';
import { showToast } from '../layout/toasts.tsx';
import type { GivenBudget } from './budget-form.tsx';
import { budgetsQuery } from './usage-queries.ts';

type Question = { preview: BudgetPreview; answer: (isSaved: boolean) => void };

const namedMax = 5;

/** Saves budgets; asks first if that would stop people at once. `question` is the open dialog. */
export function useBudgetChanges() {
  const t = useText();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<Question>();
  const save = async (given: readonly GivenBudget[]): Promise<boolean> => {
    const budgets = given.map(({ scope, userId, unit, period, limit, stopsAdministrators }) => ({
      scope,
      userId,
      unit,
      period,
      limit,
      stopsAdministrators,
    }));
    const { preview } = await call('POST /api/admin/budgets/preview', { body: { budgets } });
    if (preview.count > 0) {
      const isWanted = await new Promise<boolean>((answer) => setAsked({ preview, answer }));
      setAsked(undefined);
      if (!isWanted) return false;
    }
    queries.setQueryData(budgetsQuery.queryKey, await call('PUT /api/admin/budgets', { body: { budgets } }));
    showToast(t('budget.saved'));
    return true;
  };
  const question = asked ? (
    <ConfirmDialog
      title={t('budget.previewTitle', { count: asked.preview.count })}
      text={previewText(asked.preview, t)}
      confirmLabel={t('budget.previewSave')}
      onConfirm={() => asked.answer(true)}
      onClose={() => asked.answer(false)}
    />
  ) : null;
  return { save, question };
}

/** The names of some of the people, and that the administrator is one of them. */
function previewText({ count, people, isCaller }: BudgetPreview, t: Translate): string {
  const named = people.slice(0, namedMax).map(({ name }) => name);
  const rest = count - named.length;
  const all = rest > 0 ? [...named, t('budget.previewMore', { count: rest })] : named;
  const names = new Intl.ListFormat(dateLocale(), { type: 'conjunction' }).format(all);
  const text = t('budget.previewText', { names, count });
  return isCaller ? `${text} ${t('budget.previewSelf')}` : text;
}
