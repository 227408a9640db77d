import type { AdminConfig } from '@homeport/contracts/admin';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { configQuery } from '../api/queries.ts';
import formClasses from '../forms/form.module.css';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n/i18n.ts';
import { InstructionsField } from '../instructions/instructions-field.tsx';
import { instructionsBody, instructionsFault } from '../instructions/instructions-rules.ts';
import { UnsavedGuard } from '../layout/dialogs/unsaved-guard.tsx';
import { Card } from '../layout/section.tsx';
import { showToast } from '../layout/toasts.tsx';

/** The installation's instructions for all models; an empty field means the default text. */
export function InstructionsForm({ stored }: { stored: Pick<AdminConfig, 'instructions' | 'defaultInstructions'> }) {
  const t = useText();
  const queries = useQueryClient();
  const [initialValues] = useState(() => ({ instructions: stored.instructions ?? '' }));
  const { form, formProps, isBusy, failure } = useApiForm({
    initialValues,
    validate: ({ instructions }) => ({ instructions: instructionsFault(instructions, t) }),
    submit: async (values) => {
      const config = await call('POST /api/admin/config', {
        body: { instructions: instructionsBody(values.instructions) },
      });
      queries.setQueryData(configQuery.queryKey, config);
      form.setValues({ instructions: config.instructions ?? '' });
      showToast(t('adminInstructions.saved'));
    },
  });
  const { instructions } = form.values;
  const isEmpty = instructions.trim() === '';
  const put = (text: string) => {
    form.clearErrors();
    form.setValues({ instructions: text });
  };
  return (
    <form {...formProps} className={formClasses.form}>
      <UnsavedGuard isDirty={instructions !== (stored.instructions ?? '')} />
      {isEmpty ? (
        <Notice
          kind="info"
          action={
            <Button size="compact-sm" variant="default" onClick={() => put(stored.defaultInstructions)}>
              {t('adminInstructions.start')}
            </Button>
          }
        >
          {t(stored.instructions === null ? 'adminInstructions.isDefault' : 'adminInstructions.willReset')}
        </Notice>
      ) : null}
      <Card title={t('adminInstructions.label')} text={t('adminInstructions.hint')}>
        <InstructionsField
          label={t('chatInstructions.label')}
          value={instructions}
          onChange={(text) => form.setFieldValue('instructions', text)}
          error={form.errors.instructions}
          placeholder={stored.defaultInstructions}
        />
      </Card>
      <FormFailure failure={failure} />
      <div className={formClasses.actions}>
        <Button variant="default" className={formClasses.spread} disabled={isEmpty} onClick={() => put('')}>
          {t('adminInstructions.reset')}
        </Button>
        <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}
