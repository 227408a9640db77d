import '../../forms/forms.css';
import '../../forms/switch.css';
import type { ManagedUser } from '@homeport/contracts/admin';
import { Button, Switch } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import classes from '../../forms/form.module.css';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { NewPasswordField } from '../../forms/password-field.tsx';
import { newPasswordFault } from '../../forms/rules.ts';
import { SubmitButton } from '../../forms/submit-button.tsx';
import { useApiForm } from '../../forms/use-api-form.ts';
import { useText } from '../../i18n/i18n.ts';
import { UnsavedGuard } from '../../layout/dialogs/unsaved-guard.tsx';
import { changeUser } from '../admin-queries.ts';
import { CopyField } from '../copy-field.tsx';
import { generatePassword } from './generate-password.ts';

/** Sets a user's new password, typed or generated; it can be copied until the page is left. */
export function SetPasswordForm({ user, isMe }: { user: ManagedUser; isMe: boolean }) {
  const t = useText();
  const queries = useQueryClient();
  const [set, setSet] = useState<string>();
  const { form, formProps, isBusy, failure } = useApiForm({
    initialValues: { password: '', mustChangePassword: !isMe },
    validate: ({ password }) => ({ password: newPasswordFault(password, t) }),
    submit: async ({ password, mustChangePassword }) => {
      await changeUser(queries, { id: user.id, password, mustChangePassword });
      form.reset();
      setSet(password);
    },
  });
  const { password, mustChangePassword } = form.values;
  return (
    <form {...formProps} className={classes.form}>
      <UnsavedGuard isDirty={password !== ''} />
      {set === undefined ? null : (
        <>
          <Notice kind="success">{t('users.passwordSet', { name: user.name })}</Notice>
          <CopyField label={t('users.passwordCopy')} value={set} />
        </>
      )}
      <NewPasswordField
        {...form.getInputProps('password')}
        value={password}
        label={t('password.new')}
        data-1p-ignore
        data-lpignore="true"
      />
      <Switch
        checked={mustChangePassword}
        onChange={(event) => form.setFieldValue('mustChangePassword', event.currentTarget.checked)}
        label={t('users.mustChangeSwitch')}
        description={t('users.mustChangeHint')}
      />
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        <Button
          variant="default"
          className={classes.spread}
          onClick={() => {
            form.setFieldValue('password', generatePassword());
            form.clearErrors();
          }}
        >
          {t('users.generate')}
        </Button>
        <SubmitButton label={t('users.setPassword')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}
