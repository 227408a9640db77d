import '../forms/forms.css';
import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { useClientSession } from '../conversation/client-session.ts';
import formClasses from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { PasswordField } from '../forms/password-field.tsx';
import { useText } from '../i18n/i18n.ts';
import { FormDialog } from '../layout/dialogs/form-dialog.tsx';
import { Card } from '../layout/section.tsx';
import classes from './import-export.module.css';

/** Deletes the person's own account, after their password. */
export function DeleteMeCard() {
  const t = useText();
  const [isAsking, setAsking] = useState(false);
  return (
    <Card
      title={t('moving.delete')}
      text={t('moving.deleteText')}
      action={
        <Button variant="default" onClick={() => setAsking(true)}>
          {t('moving.deleteAction')}
        </Button>
      }
    >
      {isAsking ? (
        <FormDialog title={t('moving.deleteTitle')} onClose={() => setAsking(false)}>
          {({ cancel }) => <DeleteForm cancel={cancel} />}
        </FormDialog>
      ) : null}
    </Card>
  );
}

function DeleteForm({ cancel }: { cancel: React.ReactNode }) {
  const t = useText();
  const { user } = useClientSession();
  const [password, setPassword] = useState('');
  const [email, setEmail] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setFailure(undefined);
    try {
      await call('DELETE /api/me', { body: { password, email } });
      return location.assign('/sign-in');
    } catch (refusal) {
      setFailure(refusal);
    }
    setBusy(false);
  };
  const code = failure instanceof ApiFailure ? failure.code : undefined;
  const text =
    code === 'invalid_credentials'
      ? t('moving.wrongPassword')
      : code === 'last_admin'
        ? t('moving.lastAdmin')
        : undefined;
  return (
    <form className={formClasses.form} onSubmit={(event) => void submit(event)}>
      <p className={classes.detail}>{t('moving.deleteConfirm')}</p>
      <input type="email" name="username" autoComplete="username" value={user.email} readOnly hidden />
      <PasswordField
        label={t('moving.deletePassword')}
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        data-autofocus
      />
      <TextInput
        label={t('moving.deleteEmail')}
        description={t('moving.deleteEmailText')}
        autoComplete="off"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      {failure === undefined ? null : <FormFailure failure={failure} {...(text === undefined ? {} : { text })} />}
      <div className={formClasses.actions}>
        {cancel}
        <Button type="submit" color="red.9" aria-disabled={isBusy}>
          {t('moving.delete')}
        </Button>
      </div>
    </form>
  );
}
