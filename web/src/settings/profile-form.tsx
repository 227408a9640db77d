import '../forms/forms.css';
import 'virtual:texts/ask';
import type { User } from '@homeport/contracts/fields';
import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { meQuery } from '../api/queries.ts';
import classes from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { emailFault, nameFault } from '../forms/rules.ts';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n/i18n.ts';
import { UnsavedGuard } from '../layout/dialogs/unsaved-guard.tsx';
import { useAdministrators } from '../layout/records/use-administrators.ts';
import { showToast } from '../layout/toasts.tsx';

/** The name of the signed-in user, and the e-mail address, which administrators can change. */
export function ProfileForm({ user }: { user: User }) {
  const t = useText();
  const queries = useQueryClient();
  const administrators = useAdministrators();
  const isAdmin = user.role === 'admin';
  const [initialValues] = useState(() => ({ name: user.name, email: user.email }));
  const { form, formProps, isBusy, failure } = useApiForm({
    initialValues,
    validate: ({ name, email }) => ({ name: nameFault(name, t), email: isAdmin ? emailFault(email, t) : null }),
    submit: async (values) => {
      const [name, email] = [values.name.trim(), values.email.trim()];
      if (email !== user.email) await call('PATCH /api/admin/users', { body: { id: user.id, email } });
      const answer = await call('PATCH /api/me', { body: { name } });
      queries.setQueryData(meQuery.queryKey, answer);
      form.setValues({ name: answer.user.name, email: answer.user.email });
      showToast(t('form.saved'));
    },
    placeFailure: ({ code }) =>
      code === 'email_taken' ? { field: 'email', text: t('account.emailTaken') } : undefined,
  });
  const { name, email } = form.values;
  return (
    <form {...formProps} className={classes.form}>
      <UnsavedGuard isDirty={name !== user.name || email !== user.email} />
      <div className={classes.pair}>
        <TextInput
          {...form.getInputProps('name')}
          label={t('person.name')}
          description={t('account.nameHint')}
          autoComplete="name"
        />
        <TextInput
          {...form.getInputProps('email')}
          label={t('person.email')}
          description={isAdmin ? t('account.emailHint') : t('ask.email', administrators)}
          readOnly={!isAdmin}
          type="email"
          autoComplete="email"
          autoCapitalize="none"
        />
      </div>
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}
