import '../forms/switch.css';
import 'virtual:texts/rules';
import type { OwnToolRules } from '@homeport/contracts/chat/tool-rules';
import { Switch } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { Loading } from '../catalogue/catalogue-view.tsx';
import formClasses from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n/i18n.ts';
import { UnsavedGuard } from '../layout/dialogs/unsaved-guard.tsx';
import { Card } from '../layout/section.tsx';
import { showToast } from '../layout/toasts.tsx';
import { givenRules, PresetChoice, RuleList } from '../rules/rules-editor.tsx';

/** Not kept: saving replaces all rules, and “Always allow” may have added one meanwhile. */
const rulesQuery = queryOptions({
  queryKey: ['workspace-rules'],
  gcTime: 0,
  queryFn: ({ signal }) => call('GET /api/workspace/rules', { signal }),
});

/** Tool permissions in all conversations of the signed-in person. */
export function RulesCard() {
  const t = useText();
  const { data, error } = useQuery(rulesQuery);
  return (
    <Card title={t('rules.title')} text={t('rules.text')}>
      {data ? <RulesForm stored={data} /> : null}
      {error && !data ? <FormFailure failure={error} /> : null}
      {data || error ? null : <Loading />}
    </Card>
  );
}

function RulesForm({ stored }: { stored: OwnToolRules }) {
  const t = useText();
  const queries = useQueryClient();
  const [initialValues] = useState(stored);
  const { form, formProps, isBusy, failure } = useApiForm<OwnToolRules>({
    initialValues,
    validate: () => ({}),
    submit: async (values) => {
      const answer = await call('PUT /api/workspace/rules', {
        body: { ...givenRules(values), programModels: values.programModels },
      });
      queries.setQueryData(rulesQuery.queryKey, answer);
      form.setValues(answer);
      showToast(t('rules.saved'));
    },
  });
  const { values } = form;
  return (
    <form {...formProps} className={formClasses.form}>
      <UnsavedGuard isDirty={JSON.stringify(values) !== JSON.stringify(stored)} />
      <PresetChoice
        legend={t('rules.preset')}
        value={values.preset}
        onChange={(preset) => preset && form.setValues({ preset })}
      />
      <RuleList rules={values.rules} onChange={(rules) => form.setValues({ rules })} />
      <Switch
        label={t('rules.programModels')}
        description={t('rules.programModelsHint')}
        checked={values.programModels}
        onChange={(event) => form.setValues({ programModels: event.currentTarget.checked })}
      />
      <FormFailure failure={failure} />
      <div className={formClasses.actions}>
        <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}
