import '../forms/forms.css';
import '../forms/switch.css';
import type { Budget } from '@homeport/contracts/usage';
import { Button, NativeSelect, Switch, TextInput } from '@mantine/core';
import { call } from '../api/api.ts';
import formClasses from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { type ApiForm, useApiForm } from '../forms/use-api-form.ts';
import { type Translate, useText } from '../i18n/i18n.ts';
import { type BudgetValues, emptyBudget, isSame, limitOf, valuesOf } from './budget-values.ts';
import classes from './usage.module.css';

type Word = Budget['scope'] | Budget['unit'] | Budget['period'];
export type GivenBudget = Pick<Budget, 'scope' | 'userId' | 'unit' | 'period' | 'limit' | 'stopsAdministrators'>;

/** The fields of a budget: a new one, or a stored one to edit. */
export function BudgetForm({
  budgets,
  edited,
  onSave,
  onCancel,
}: {
  budgets: readonly Budget[];
  edited?: Budget;
  /** Resolves with false if the administrator decides against it. */
  onSave: (budget: GivenBudget) => Promise<boolean>;
  onCancel?: () => void;
}) {
  const t = useText();
  const { form, formProps, isBusy, failure }: ApiForm<BudgetValues> = useApiForm<BudgetValues>({
    initialValues: edited === undefined ? emptyBudget : valuesOf(edited),
    validate: (values) => ({
      email: values.scope === 'person' && values.email.trim() === '' ? t('budget.emailUnknown') : null,
      limit: limitOf(values) === undefined ? t('budget.limitFault') : null,
    }),
    submit: async (values): Promise<void> => {
      const { scope, unit, period, stopsAdministrators } = values;
      const userId = scope === 'person' ? await findUser(values.email) : null;
      const limit = limitOf(values);
      if (userId === undefined) return form.setFieldError('email', t('budget.emailUnknown'));
      if (limit === undefined) return;
      const given = { scope, userId, unit, period, limit, stopsAdministrators };
      if (budgets.some((budget) => budget !== edited && isSame(budget, given))) {
        return form.setFieldError('limit', t('budget.taken'));
      }
      if (await onSave(given)) form.reset();
    },
  });
  const { scope, unit, period, stopsAdministrators } = form.values;
  return (
    <form {...formProps} className={formClasses.form}>
      <div className={classes.fields}>
        <NativeSelect
          label={t('budget.for')}
          data={choices(['everyone', 'each', 'person'], t)}
          value={scope}
          onChange={(event) => form.setFieldValue('scope', readScope(event.currentTarget.value))}
        />
        <NativeSelect
          label={t('budget.unit')}
          data={choices(['cost', 'tokens'], t)}
          value={unit}
          onChange={(event) => form.setFieldValue('unit', event.currentTarget.value === 'cost' ? 'cost' : 'tokens')}
        />
        <NativeSelect
          label={t('budget.period')}
          data={choices(['month', 'day'], t)}
          value={period}
          onChange={(event) => form.setFieldValue('period', event.currentTarget.value === 'day' ? 'day' : 'month')}
        />
        <TextInput
          label={t('budget.limit')}
          inputMode="decimal"
          maxLength={20}
          description={scope === 'person' ? t('budget.limitHint') : undefined}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          {...form.getInputProps('limit')}
        />
        {scope === 'person' ? (
          <TextInput label={t('budget.email')} type="email" autoComplete="off" {...form.getInputProps('email')} />
        ) : null}
      </div>
      {scope === 'person' ? null : (
        <Switch
          checked={stopsAdministrators}
          onChange={(event) => form.setFieldValue('stopsAdministrators', event.currentTarget.checked)}
          label={t('budget.stops')}
          description={t('budget.stopsHint')}
        />
      )}
      <FormFailure failure={failure} />
      <div className={formClasses.actions}>
        {onCancel === undefined ? null : (
          <Button variant="default" onClick={onCancel}>
            {t('app.cancel')}
          </Button>
        )}
        <SubmitButton
          label={t(edited === undefined ? 'budget.add' : 'budget.save')}
          busyLabel={t('form.saving')}
          isBusy={isBusy}
        />
      </div>
    </form>
  );
}

async function findUser(email: string): Promise<string | undefined> {
  const wanted = email.trim().toLowerCase();
  const { users } = await call('GET /api/admin/users', { query: { q: wanted, limit: '50' } });
  return users.find((user) => user.email.toLowerCase() === wanted)?.id;
}

function readScope(value: string): Budget['scope'] {
  return value === 'each' || value === 'person' ? value : 'everyone';
}

function choices<Value extends Word>(values: readonly Value[], t: Translate): { value: Value; label: string }[] {
  return values.map((value) => ({ value, label: labelOf(value, t) }));
}

function labelOf(value: Word, t: Translate): string {
  if (value === 'cost' || value === 'tokens') return t(`budget.unit.${value}`);
  if (value === 'day' || value === 'month') return t(`budget.period.${value}`);
  return t(`budget.scope.${value}`);
}
