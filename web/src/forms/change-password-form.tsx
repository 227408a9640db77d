import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../api/api.ts';
import { meQuery } from '../api/queries.ts';
import { useText } from '../i18n/i18n.ts';
import classes from './form.module.css';
import { FormFailure, useWaitText } from './notice.tsx';
import { NewPasswordField, PasswordField } from './password-field.tsx';
import { newPasswordFault } from './rules.ts';
import { SubmitButton } from './submit-button.tsx';
import { useApiForm } from './use-api-form.ts';

/** Changes the password of the signed-in user; all other sessions end with it. */
export function ChangePasswordForm({
  email,
  onChanged,
  beside,
}: {
  email: string;
  onChanged: () => void;
  beside?: ReactNode;
}) {
  const t = useText();
  const queries = useQueryClient();
  const { form, formProps, isBusy, failure } = useApiForm({
    initialValues: { currentPassword: '', newPassword: '' },
    validate: ({ currentPassword, newPassword }) => ({
      currentPassword: currentPassword === '' ? t('form.required') : null,
      newPassword: newPasswordFault(newPassword, t) ?? (newPassword === currentPassword ? t('password.same') : null),
    }),
    submit: async (body) => {
      await call('POST /api/auth/change-password', { body });
      form.reset();
      await queries.fetchQuery({ ...meQuery, staleTime: 0 });
      onChanged();
    },
    placeFailure: ({ code }) =>
      code === 'invalid_credentials' ? { field: 'currentPassword', text: t('password.wrong') } : undefined,
  });
  const waitText = useWaitText(failure);
  return (
    <form {...formProps} className={classes.form}>
      {/* The account name for password managers. */}
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <PasswordField
        {...form.getInputProps('currentPassword')}
        label={t('password.current')}
        name="current-password"
        autoComplete="current-password"
      />
      <NewPasswordField
        {...form.getInputProps('newPassword')}
        value={form.values.newPassword}
        label={t('password.new')}
        name="new-password"
      />
      <FormFailure failure={failure} text={waitText} />
      <div className={classes.actions}>
        {beside}
        <SubmitButton label={t('password.action')} busyLabel={t('password.busy')} isBusy={isBusy} />
      </div>
    </form>
  );
}
