import 'virtual:texts/invitations';
import '../../forms/forms.css';
import '../../forms/switch.css';
import type { ManagedUser } from '@homeport/contracts/admin';
import { Button, Switch, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { call } from '../../api/api.ts';
import { publicConfigQuery } from '../../api/queries.ts';
import { ChoiceChips } from '../../forms/choice-chips.tsx';
import classes from '../../forms/form.module.css';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { NewPasswordField } from '../../forms/password-field.tsx';
import { emailFault, nameFault, newPasswordFault } from '../../forms/rules.ts';
import { SubmitButton } from '../../forms/submit-button.tsx';
import { useApiForm } from '../../forms/use-api-form.ts';
import { useText } from '../../i18n/i18n.ts';
import { FormDialog } from '../../layout/dialogs/form-dialog.tsx';
import { showToast } from '../../layout/toasts.tsx';
import { CopyField } from '../copy-field.tsx';
import {
  type AccountChoices,
  AccountSwitches,
  choicesBody,
  newAccountChoices,
  RoleField,
  useIsManaged,
} from './account-fields.tsx';
import { FirstModel, useHasFirstModel } from './first-model.tsx';
import { generatePassword } from './generate-password.ts';

type Created = { user: ManagedUser; password: string };

/** Adds a user. A generated password is shown once, to be passed on. */
export function CreateUserDialog({ onClose }: { onClose: () => void }) {
  const t = useText();
  const [created, setCreated] = useState<Created>();
  const done = (next: Created) => {
    if (next.password !== '') return setCreated(next);
    showToast(t('users.added', { name: next.user.name }));
    onClose();
  };
  return (
    <FormDialog
      key={created ? 'created' : 'form'}
      title={created ? t('users.addedTitle', { name: created.user.name }) : t('users.addTitle')}
      isFirm={created !== undefined}
      onClose={onClose}
    >
      {({ onDirty, cancel }) =>
        created ? (
          <HandOver created={created} onClose={onClose} />
        ) : (
          <CreateUserForm onCreated={done} onDirty={onDirty} beside={cancel} />
        )
      }
    </FormDialog>
  );
}

function HandOver({ created, onClose }: { created: Created; onClose: () => void }) {
  const t = useText();
  return (
    <div className={classes.form}>
      <Notice kind="warning">{t('users.handOver')}</Notice>
      <CopyField label={t('person.email')} value={created.user.email} />
      <CopyField label={t('person.password')} value={created.password} isFocused />
      <div className={classes.actions}>
        <Button onClick={onClose}>{t('admin.done')}</Button>
      </div>
    </div>
  );
}

type Values = AccountChoices & {
  name: string;
  email: string;
  signsIn: 'generated' | 'own' | 'none';
  password: string;
  mustChangePassword: boolean;
  isWithoutModel: boolean;
};

function CreateUserForm({
  onCreated,
  onDirty,
  beside,
}: {
  onCreated: (created: Created) => void;
  onDirty: (isDirty: boolean) => void;
  beside: ReactNode;
}) {
  const t = useText();
  const queries = useQueryClient();
  const isManaged = useIsManaged();
  const hasSso = Boolean(useQuery(publicConfigQuery).data?.sso);
  const hasModel = useHasFirstModel();
  const [generated] = useState(generatePassword);
  const [initialValues] = useState<Values>({
    ...newAccountChoices,
    name: '',
    email: '',
    signsIn: 'generated',
    password: '',
    mustChangePassword: true,
    isWithoutModel: false,
  });
  const { form, formProps, isBusy, failure } = useApiForm<Values>({
    initialValues,
    validate: ({ name, email, signsIn, password, isWithoutModel }) => ({
      name: nameFault(name, t),
      email: emailFault(email, t),
      password: signsIn === 'own' ? newPasswordFault(password, t) : null,
      isWithoutModel: hasModel === false && !isWithoutModel ? t('firstModel.addNeeded') : null,
    }),
    submit: async ({ name, email, signsIn, mustChangePassword, isWithoutModel: _, ...values }) => {
      const password = signsIn === 'generated' ? generated : values.password;
      const { user } = await call('POST /api/admin/users', {
        body: {
          name: name.trim(),
          email: email.trim(),
          ...choicesBody(values, isManaged),
          ...(signsIn === 'none' ? {} : { password, mustChangePassword }),
        },
      });
      await queries.invalidateQueries({ queryKey: ['admin-users'] });
      onDirty(false);
      onCreated({ user, password: signsIn === 'generated' ? generated : '' });
    },
    placeFailure: ({ code }) => (code === 'email_taken' ? { field: 'email', text: t('users.emailTaken') } : undefined),
  });
  const isDirty = form.isDirty();
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  const { values } = form;
  return (
    <form {...formProps} className={classes.form}>
      <TextInput {...form.getInputProps('name')} label={t('person.name')} autoComplete="off" data-autofocus />
      <TextInput
        {...form.getInputProps('email')}
        label={t('person.email')}
        type="email"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
      />
      <RoleField value={values.role} onChange={(role) => form.setFieldValue('role', role)} />
      <ChoiceChips
        legend={t('users.signsIn')}
        options={[
          { value: 'generated', label: t('users.signsInGenerated') },
          { value: 'own', label: t('users.signsInOwn') },
          { value: 'none', label: t('users.signsInNone') },
        ]}
        value={values.signsIn}
        onChange={(signsIn) => form.setFieldValue('signsIn', signsIn)}
        hint={t(
          values.signsIn === 'generated'
            ? 'users.generatedHint'
            : values.signsIn === 'own'
              ? 'users.ownHint'
              : 'users.noneHint',
        )}
      />
      {values.signsIn === 'none' && !hasSso ? <Notice kind="warning">{t('users.noneWithoutSso')}</Notice> : null}
      {values.signsIn === 'own' ? (
        <NewPasswordField
          {...form.getInputProps('password')}
          value={values.password}
          label={t('person.password')}
          data-1p-ignore
          data-lpignore="true"
        />
      ) : null}
      {values.signsIn === 'none' ? null : (
        <Switch
          checked={values.mustChangePassword}
          onChange={(event) => form.setFieldValue('mustChangePassword', event.currentTarget.checked)}
          label={t('users.mustChangeSwitch')}
          description={t('users.mustChangeHint')}
        />
      )}
      <AccountSwitches values={values} onChange={(change) => form.setValues(change)} />
      <FirstModel
        way="add"
        isWithout={values.isWithoutModel}
        error={typeof form.errors.isWithoutModel === 'string' ? form.errors.isWithoutModel : undefined}
        onWithout={(isWithoutModel) => form.setFieldValue('isWithoutModel', isWithoutModel)}
      />
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        {beside}
        <SubmitButton label={t('users.add')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}
