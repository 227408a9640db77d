import '../../forms/forms.css';
import type { ManagedUser } from '@homeport/contracts/admin';
import type { Role } from '@homeport/contracts/fields';
import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import classes from '../../forms/form.module.css';
import { FormFailure } from '../../forms/notice.tsx';
import { emailFault, nameFault } from '../../forms/rules.ts';
import { SubmitButton } from '../../forms/submit-button.tsx';
import { useApiForm } from '../../forms/use-api-form.ts';
import { useText } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../layout/dialogs/confirm-dialog.tsx';
import { UnsavedGuard } from '../../layout/dialogs/unsaved-guard.tsx';
import { showToast } from '../../layout/toasts.tsx';
import { changeUser } from '../admin-queries.ts';
import { RoleField } from './account-fields.tsx';
import { lastAdminText } from './last-admin.ts';

/** Name, address and role of a user. */
export function UserForm({ user, isMe }: { user: ManagedUser; isMe: boolean }) {
  const t = useText();
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const [initialValues] = useState<{ name: string; email: string; role: Role }>(() => profileOf(user));
  const { form, formProps, isBusy, failure, submit } = useApiForm({
    initialValues,
    validate: ({ name, email }) => ({ name: nameFault(name, t), email: emailFault(email, t) }),
    placeFailure: ({ code }) => (code === 'email_taken' ? { field: 'email', text: t('users.emailTaken') } : undefined),
    submit: async ({ name, email, role }) => {
      const saved = await changeUser(queries, {
        id: user.id,
        ...(name.trim() === user.name ? {} : { name: name.trim() }),
        ...(email.trim() === user.email ? {} : { email: email.trim() }),
        ...(role === user.role ? {} : { role }),
      });
      form.setValues(profileOf(saved));
      showToast(t('form.saved'));
    },
  });
  const { name, email, role } = form.values;
  const givesUpRole = isMe && user.role === 'admin' && role !== 'admin';
  return (
    <form
      {...formProps}
      onSubmit={(event) => {
        if (!givesUpRole) return formProps.onSubmit(event);
        event.preventDefault();
        setAsking(true);
      }}
      className={classes.form}
    >
      <UnsavedGuard isDirty={name !== user.name || email !== user.email || role !== user.role} />
      <div className={classes.pair}>
        <TextInput {...form.getInputProps('name')} label={t('person.name')} autoComplete="off" />
        <TextInput
          {...form.getInputProps('email')}
          label={t('person.email')}
          description={t('users.emailHint')}
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          autoComplete="off"
          autoCapitalize="none"
          inputMode="email"
        />
      </div>
      <RoleField value={role} onChange={(next) => form.setFieldValue('role', next)} />
      <FormFailure failure={failure} text={lastAdminText(failure, t)} />
      <div className={classes.actions}>
        <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
      {isAsking ? (
        <ConfirmDialog
          title={t('users.demoteSelfTitle')}
          text={t('users.demoteSelfText')}
          confirmLabel={t('users.demoteSelf')}
          onConfirm={() => {
            setAsking(false);
            void submit();
          }}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </form>
  );
}

function profileOf({ name, email, role }: ManagedUser) {
  return { name, email, role };
}
