import 'virtual:texts/catalogue';
import '../../forms/forms.css';
import type { Invitation } from '@homeport/contracts/admin';
import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { call } from '../../api/api.ts';
import { catalogueQuery } from '../../api/queries.ts';
import { ChoiceChips } from '../../forms/choice-chips.tsx';
import classes from '../../forms/form.module.css';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { emailFault, nameFault } from '../../forms/rules.ts';
import { SubmitButton } from '../../forms/submit-button.tsx';
import { useApiForm } from '../../forms/use-api-form.ts';
import { useText } from '../../i18n/i18n.ts';
import { FormDialog } from '../../layout/dialogs/form-dialog.tsx';
import { invitationsQuery } from '../admin-queries.ts';
import { CopyField } from '../copy-field.tsx';
import { formatTime } from '../format.ts';
import {
  type AccountChoices,
  AccountSwitches,
  choicesBody,
  newAccountChoices,
  RoleField,
  useIsManaged,
} from './account-fields.tsx';

type Created = { invitation: Invitation; url: string };

/**
 * Creates an invitation (with `again`, another one for the same person), then shows the link, which the server returns
 * only once.
 */
export function InviteDialog({ again, onClose }: { again: Invitation | undefined; onClose: () => void }) {
  const t = useText();
  const [created, setCreated] = useState<Created>();
  return (
    <FormDialog
      key={created ? 'created' : 'form'}
      title={created ? t('invitations.addedTitle', { email: created.invitation.email }) : t('invitations.addTitle')}
      isFirm={created !== undefined}
      onClose={onClose}
    >
      {({ onDirty, cancel }) =>
        created ? (
          <LinkToSend created={created} onClose={onClose} />
        ) : (
          <InviteForm again={again} onCreated={setCreated} onDirty={onDirty} beside={cancel} />
        )
      }
    </FormDialog>
  );
}

function LinkToSend({ created, onClose }: { created: Created; onClose: () => void }) {
  const t = useText();
  const { invitation, url } = created;
  return (
    <div className={classes.form}>
      <Notice kind="warning">{t('invitations.sendIt')}</Notice>
      <CopyField
        label={t('invitations.link')}
        description={t('invitations.linkHint', { date: formatTime(invitation.expiresAt) })}
        value={url}
        isFocused
      />
      <div className={classes.actions}>
        <Button onClick={onClose}>{t('admin.done')}</Button>
      </div>
    </div>
  );
}

/** Warns that invited people have no model unless one is shared with everyone. */
function NoModelWarning() {
  const t = useText();
  const isManaged = useIsManaged();
  const { data } = useQuery(catalogueQuery);
  const isShared = data?.providers.some(
    ({ sharedWith, enabled, models }) => sharedWith === 'everyone' && enabled && models.some((model) => model.enabled),
  );
  if (isManaged || isShared !== false) return null;
  return (
    <Notice kind="warning" title={t('sharing.noModelTitle')}>
      {t('sharing.noModelText', { place: `${t('settings.label')} → ${t('settings.providers')}` })}
    </Notice>
  );
}

const hours = { day: 24, week: 168, month: 720 } as const;
type Values = AccountChoices & { email: string; name: string; validFor: keyof typeof hours };

function InviteForm({
  again,
  onCreated,
  onDirty,
  beside,
}: {
  again: Invitation | undefined;
  onCreated: (created: Created) => void;
  onDirty: (isDirty: boolean) => void;
  beside: ReactNode;
}) {
  const t = useText();
  const queries = useQueryClient();
  const isManaged = useIsManaged();
  const [initialValues] = useState<Values>(() => ({
    ...newAccountChoices,
    role: again?.role ?? 'user',
    email: again?.email ?? '',
    name: again?.name ?? '',
    validFor: 'week',
  }));
  const { form, formProps, isBusy, failure } = useApiForm<Values>({
    initialValues,
    validate: ({ email, name }) => ({
      email: emailFault(email, t),
      name: name.trim() === '' ? null : nameFault(name, t),
    }),
    submit: async ({ email, name, validFor, ...choices }) => {
      const created = await call('POST /api/invitations', {
        body: {
          email: email.trim(),
          ...(name.trim() === '' ? {} : { name: name.trim() }),
          ...choicesBody(choices, isManaged),
          expiresInHours: hours[validFor],
        },
      });
      void queries.invalidateQueries({ queryKey: invitationsQuery.queryKey });
      onDirty(false);
      onCreated(created);
    },
    placeFailure: ({ code }) => (code === 'email_taken' ? { field: 'email', text: t('users.emailTaken') } : undefined),
  });
  const isDirty = form.isDirty();
  useEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  const { values } = form;
  return (
    <form {...formProps} className={classes.form}>
      <TextInput
        {...form.getInputProps('email')}
        label={t('person.email')}
        type="email"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus
      />
      <TextInput
        {...form.getInputProps('name')}
        label={t('invitations.name')}
        description={t('invitations.nameHint')}
        autoComplete="off"
      />
      <RoleField value={values.role} onChange={(role) => form.setFieldValue('role', role)} />
      <ChoiceChips
        legend={t('invitations.validFor')}
        options={[
          { value: 'day', label: t('invitations.day') },
          { value: 'week', label: t('invitations.week') },
          { value: 'month', label: t('invitations.month') },
        ]}
        value={values.validFor}
        onChange={(validFor) => form.setFieldValue('validFor', validFor)}
      />
      <AccountSwitches values={values} onChange={(change) => form.setValues(change)} />
      <NoModelWarning />
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        {beside}
        <SubmitButton label={t('invitations.create')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}
