import '../forms/forms.css';
import type { AdminConfig } from '@homeport/contracts/admin';
import type { TurnBudget } from '@homeport/contracts/chat/turn-budget';
import { defaultTurnBudget } from '@homeport/contracts/chat/turn-budget-default';
import { Button, NumberInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../api/api.ts';
import { configQuery } from '../api/queries.ts';
import formClasses from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { numberSeparators } from '../forms/number-separators.ts';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { numberLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import { UnsavedGuard } from '../layout/dialogs/unsaved-guard.tsx';
import { Card } from '../layout/section.tsx';
import { showToast } from '../layout/toasts.tsx';
import { readTurnBudget, type TurnBudgetValues, turnBudgetValues } from './turn-budget-values.ts';
import classes from './usage.module.css';

const names = ['steps', 'minutes', 'tokens'] as const;

/** Limits of one turn, after which the person has to press "Continue". */
export function TurnBudgetCard() {
  const t = useText();
  const { data, error } = useQuery(configQuery);
  return (
    <Card title={t('turnBudget.title')} text={t('turnBudget.text')}>
      {data ? <TurnBudgetForm stored={data.turnBudget} /> : null}
      {error && !data ? <FormFailure failure={error} /> : null}
    </Card>
  );
}

function TurnBudgetForm({ stored }: { stored: AdminConfig['turnBudget'] }) {
  const t = useText();
  const queries = useQueryClient();
  const { form, formProps, isBusy, failure } = useApiForm<TurnBudgetValues>({
    initialValues: turnBudgetValues(stored),
    validate: (values) => {
      const { faults } = readTurnBudget(values);
      return Object.fromEntries(names.map((name) => [name, faults[name] ? t('turnBudget.fault', faults[name]) : null]));
    },
    submit: async (values) => {
      const config = await call('POST /api/admin/config', { body: { turnBudget: readTurnBudget(values).budget } });
      queries.setQueryData(configQuery.queryKey, config);
      form.setValues(turnBudgetValues(config.turnBudget));
      showToast(t('turnBudget.saved'));
    },
  });
  const { budget, faults } = readTurnBudget(form.values);
  const isChanged = Object.keys(faults).length > 0 || !isSame(budget, stored);
  const number = {
    hideControls: true,
    ...numberSeparators(numberLocale()),
    allowDecimal: false,
    allowNegative: false,
  } as const;
  return (
    <form {...formProps} className={formClasses.form}>
      <UnsavedGuard isDirty={isChanged} />
      <div className={classes.fields}>
        {names.map((name) => (
          <NumberInput
            key={name}
            {...form.getInputProps(name)}
            {...number}
            label={t(`turnBudget.${name}`)}
            placeholder={name === 'tokens' ? t('budget.noLimit') : undefined}
          />
        ))}
      </div>
      <FormFailure failure={failure} />
      <div className={formClasses.actions}>
        <Button
          variant="default"
          className={formClasses.spread}
          disabled={Object.keys(faults).length === 0 && isSame(budget, defaultTurnBudget)}
          onClick={() => {
            form.clearErrors();
            form.setValues(turnBudgetValues(defaultTurnBudget));
          }}
        >
          {t('turnBudget.reset')}
        </Button>
        <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}

function isSame(one: TurnBudget, other: TurnBudget): boolean {
  return names.every((name) => one[name] === other[name]);
}
