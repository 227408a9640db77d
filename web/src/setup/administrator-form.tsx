import '../forms/forms.css';
import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { call } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { meQuery, publicConfigQuery } from '../api/queries.ts';
import classes from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { NewPasswordField } from '../forms/password-field.tsx';
import { emailFault, nameFault, newPasswordFault } from '../forms/rules.ts';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n/i18n.ts';

/** Creates the first administrator. Calls `onClosed` if another person created one first. */
export function AdministratorForm({ claimRequired, onClosed }: { claimRequired: boolean; onClosed: () => void }) {
  const t = useText();
  const queries = useQueryClient();
  const { form, formProps, isBusy, failure } = useApiForm({
    initialValues: { name: '', email: '', password: '', claimToken: '' },
    validate: ({ name, email, password, claimToken }) => ({
      claimToken: claimRequired && claimToken.trim() === '' ? t('form.required') : null,
      name: nameFault(name, t),
      email: emailFault(email, t),
      password: newPasswordFault(password, t),
    }),
    submit: async ({ name, email, password, claimToken }) => {
      const claim = claimRequired ? { claimToken: claimToken.trim() } : {};
      try {
        const { user } = await call('POST /api/setup', {
          body: { name: name.trim(), email: email.trim(), password, ...claim },
        });
        queries.setQueryData(meQuery.queryKey, { user });
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.code !== 'setup_closed') throw error;
        onClosed();
        return;
      }
      queries.setQueryData(publicConfigQuery.queryKey, (config) =>
        config ? { ...config, setup: { ...config.setup, required: false } } : config,
      );
    },
    placeFailure: ({ code }) =>
      code === 'setup_claim_mismatch' ? { field: 'claimToken', text: t('setup.claimWrong') } : undefined,
  });
  return (
    <form {...formProps} className={classes.form}>
      {claimRequired ? (
        <TextInput
          {...form.getInputProps('claimToken')}
          label={t('setup.claim')}
          description={t('setup.claimHint')}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
        />
      ) : null}
      <TextInput {...form.getInputProps('name')} label={t('person.name')} name="name" autoComplete="name" />
      <TextInput
        {...form.getInputProps('email')}
        label={t('person.email')}
        type="email"
        name="email"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
      />
      <NewPasswordField
        {...form.getInputProps('password')}
        value={form.values.password}
        label={t('person.password')}
        name="password"
      />
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        <SubmitButton label={t('setup.accountAction')} busyLabel={t('setup.accountBusy')} isBusy={isBusy} />
      </div>
    </form>
  );
}
