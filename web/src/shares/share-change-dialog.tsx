import 'virtual:texts/shares';
import '../forms/forms.css';
import '../forms/switch.css';
import type { Share, SharingPolicy } from '@homeport/contracts/sharing';
import { NativeSelect, Switch } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { call } from '../api/api.ts';
import formClasses from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { PasswordField } from '../forms/password-field.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { dateLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import { FormDialog } from '../layout/dialogs/form-dialog.tsx';
import { type End, endNames, endOf, ReadersField } from '../layout/dialogs/share-fields.tsx';
import { type ShareValues, shareChanges, shareValues } from './share-changes.ts';
import classes from './shares-page.module.css';

type Props = { share: Share; policy: SharingPolicy; onChanged: () => void; onClose: () => void };

/** Dialog that changes who may open a link, its end and its password. */
export function ShareChangeDialog({ share, policy, onChanged, onClose }: Props) {
  const t = useText();
  return (
    <FormDialog title={t('share.changeTitle', { title: share.title })} onClose={onClose}>
      {({ onDirty, cancel }) => (
        <ChangeForm share={share} policy={policy} onDirty={onDirty} cancel={cancel} onChanged={onChanged} />
      )}
    </FormDialog>
  );
}

type FormProps = Pick<Props, 'share' | 'policy' | 'onChanged'> & {
  onDirty: (isDirty: boolean) => void;
  cancel: ReactNode;
};

function ChangeForm({ share, policy, onDirty, cancel, onChanged }: FormProps) {
  const t = useText();
  const [values, setValues] = useState<ShareValues>(() => shareValues(share));
  const [failure, setFailure] = useState<unknown>();
  const [isAsked, setAsked] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const { audience, people, end, password, hasNoPassword } = values;
  const put = (next: Partial<ShareValues>) => setValues({ ...values, ...next });
  const changes = shareChanges(share, values, endOf);
  const isDirty = Object.keys(changes).length > 0;
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  const lacksPeople = audience === 'people' && people.length === 0;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setAsked(true);
    if (isBusy || lacksPeople) return;
    setBusy(true);
    try {
      if (isDirty) await call('PATCH /api/shares', { body: { id: share.id, ...changes } });
      onDirty(false);
      onChanged();
    } catch (thrown) {
      setFailure(thrown);
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)} className={formClasses.form} noValidate>
      <p className={classes.detail}>{t('share.changeText')}</p>
      <ReadersField
        policy={policy}
        audience={audience}
        people={people}
        error={isAsked && lacksPeople ? t('share.choosePeople') : undefined}
        onAudience={(next) => put({ audience: next })}
        onPeople={(next) => put({ people: next })}
      />
      <NativeSelect
        label={t('share.ends')}
        value={end}
        onChange={(event) => put({ end: event.currentTarget.value as End | 'keep' })}
        data={[
          { value: 'keep', label: keptEnd(share, t) },
          ...endNames
            .filter((value) => value !== 'never' || share.expiresAt !== null)
            .map((value) => ({ value, label: t(`share.ends.${value}`) })),
        ]}
      />
      {hasNoPassword ? null : (
        <PasswordField
          label={t(share.hasPassword ? 'share.newPassword' : 'share.password')}
          description={t(share.hasPassword ? 'share.newPasswordHint' : 'share.passwordHint')}
          value={password}
          autoComplete="new-password"
          onChange={(event) => put({ password: event.currentTarget.value })}
        />
      )}
      {share.hasPassword ? (
        <Switch
          label={t('share.removePassword')}
          checked={hasNoPassword}
          onChange={(event) => put({ hasNoPassword: event.currentTarget.checked, password: '' })}
        />
      ) : null}
      <FormFailure failure={failure} />
      <div className={formClasses.actions}>
        {cancel}
        <SubmitButton label={t('form.save')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}

function keptEnd({ expiresAt }: Share, t: ReturnType<typeof useText>): string {
  if (expiresAt === null) return t('share.ends.keepNever');
  const date = new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium', timeStyle: 'short' });
  return t('share.ends.keep', { date: date.format(new Date(expiresAt)) });
}
