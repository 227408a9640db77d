import '../forms/forms.css';
import type { AdminConfig } from '@homeport/contracts/admin';
import { limits } from '@homeport/contracts/limits';
import { NumberInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../api/api.ts';
import { configQuery } from '../api/queries.ts';
import { ChoiceChips } from '../forms/choice-chips.tsx';
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

const policies = ['everyone', 'administrators', 'off'] as const;
type Policy = Pick<AdminConfig, 'tokens' | 'tokenMaxDays'>;
type Values = { tokens: Policy['tokens']; days: number | string };

/** For administrators: the people who may have tokens, and how long these last. */
export function TokenPolicyCard() {
  const t = useText();
  const { data, error } = useQuery(configQuery);
  return (
    <Card title={t('tokens.policy')} text={t('tokens.policyText')}>
      {data ? <TokenPolicyForm stored={data} /> : null}
      {error && !data ? <FormFailure failure={error} /> : null}
    </Card>
  );
}

function TokenPolicyForm({ stored }: { stored: Policy }) {
  const t = useText();
  const queries = useQueryClient();
  const { form, formProps, isBusy, failure } = useApiForm<Values>({
    initialValues: valuesOf(stored),
    validate: ({ days }) => ({
      days: isDays(days) ? null : t('form.number', { max: limits.tokenDaysMax }),
    }),
    submit: async (values) => {
      const config = await call('POST /api/admin/config', { body: policyOf(values) });
      queries.setQueryData(configQuery.queryKey, config);
      form.setValues(valuesOf(config));
      void queries.invalidateQueries({ queryKey: ['tokens'] });
      showToast(t('tokens.policySaved'));
    },
    fieldOf: (path) => (path === 'tokenMaxDays' ? 'days' : undefined),
  });
  const { tokens, days } = form.values;
  const isChanged = tokens !== stored.tokens || policyOf(form.values).tokenMaxDays !== stored.tokenMaxDays;
  return (
    <form {...formProps} className={formClasses.form}>
      <UnsavedGuard isDirty={isChanged || !isDays(days)} />
      <ChoiceChips
        legend={t('tokens.policyWho')}
        options={policies.map((value) => ({ value, label: t(`tokens.policy.${value}`) }))}
        value={tokens}
        onChange={(value) => form.setFieldValue('tokens', value)}
        hint={t(`tokens.policyHint.${tokens}`)}
      />
      <NumberInput
        {...form.getInputProps('days')}
        {...numberSeparators(numberLocale())}
        hideControls
        allowDecimal={false}
        allowNegative={false}
        label={t('tokens.policyDays')}
        description={t('tokens.policyDaysHint')}
        placeholder={t('tokens.lifeNone')}
      />
      <FormFailure failure={failure} />
      <div className={formClasses.actions}>
        <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}

function valuesOf({ tokens, tokenMaxDays }: Policy): Values {
  return { tokens, days: tokenMaxDays ?? '' };
}

function policyOf({ tokens, days }: Values): Policy {
  return { tokens, tokenMaxDays: days === '' ? null : Number(days) };
}

function isDays(days: number | string): boolean {
  if (days === '') return true;
  const number = Number(days);
  return Number.isInteger(number) && number >= 1 && number <= limits.tokenDaysMax;
}
