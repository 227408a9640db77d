import '../forms/forms.css';
import type { User } from '@homeport/contracts/fields';
import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { meQuery } from '../api/queries.ts';
import classes from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { nameFault } from '../forms/rules.ts';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n/i18n.ts';
import { UnsavedGuard } from '../layout/dialogs/unsaved-guard.tsx';
import { showToast } from '../layout/toasts.tsx';

/** The name of the signed-in user. */
export function ProfileForm({ user }: { user: User }) {
  const t = useText();
  const queries = useQueryClient();
  const [initialValues] = useState(() => ({ name: user.name }));
  const { form, formProps, isBusy, failure } = useApiForm({
    initialValues,
    validate: ({ name }) => ({ name: nameFault(name, t) }),
    submit: async ({ name }) => {
      const answer = await call('PATCH /api/me', { body: { name: name.trim() } });
      queries.setQueryData(meQuery.queryKey, answer);
      form.setFieldValue('name', answer.user.name);
      showToast(t('form.saved'));
    },
  });
  return (
    <form {...formProps} className={classes.form}>
      <UnsavedGuard isDirty={form.values.name !== user.name} />
      <div className={classes.pair}>
        <TextInput
          {...form.getInputProps('name')}
          label={t('person.name')}
          description={t('account.nameHint')}
          autoComplete="name"
        />
        <TextInput
          label={t('person.email')}
          description={t('account.emailHint')}
          value={user.email}
          readOnly
          type="email"
        />
      </div>
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}
