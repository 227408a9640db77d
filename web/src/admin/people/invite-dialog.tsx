import 'virtual:texts/invitations';
import '../../forms/forms.css';
import type { Invitation } from '@homeport/contracts/admin';
import { isLoopbackHost } from '@homeport/contracts/text/loopback';
import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { call } from '../../api/api.ts';
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
import { overviewQuery } from '../overview/overview-queries.ts';
import {
  type AccountChoices,
  AccountSwitches,
  choicesBody,
  newAccountChoices,
  RoleField,
  useIsManaged,
} from './account-fields.tsx';
import { FirstModel, useHasFirstModel } from './first-model.tsx';

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
  const { data } = useQuery(overviewQuery);
  const networkUrl = inNetwork(url, data?.overview.networkOrigin ?? null);
  const isOnlyHere = isLoopbackHost(new URL(url).hostname);
  const linkHint = t('invitations.linkHint', { date: formatTime(invitation.expiresAt) });
  return (
    <div className={classes.form}>
      <Notice kind="warning">{t('invitations.sendIt')}</Notice>
      {networkUrl === null ? null : (
        <CopyField
          label={t('invitations.network')}
          description={t('invitations.networkHint')}
          value={networkUrl}
          isFocused
        />
      )}
      <CopyField label={t('invitations.link')} description={linkHint} value={url} isFocused={networkUrl === null} />
      {isOnlyHere ? (
        <Notice kind="warning" title={t('invitations.onlyHereTitle')}>
          {networkUrl === null ? t('invitations.onlyHere') : undefined}
        </Notice>
      ) : null}
      <div className={classes.actions}>
        <Button onClick={onClose}>{t('admin.done')}</Button>
      </div>
    </div>
  );
}

/** The same link at another origin; null without one. */
function inNetwork(url: string, origin: string | null): string | null {
  const { pathname, hash } = new URL(url);
  return origin === null ? null : origin + pathname + hash;
}

const hours = { day: 24, week: 168, month: 720 } as const;
type Values = AccountChoices & { email: string; name: string; validFor: keyof typeof hours; isWithoutModel: boolean };

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
  const hasModel = useHasFirstModel();
  const [initialValues] = useState<Values>(() => ({
    ...newAccountChoices,
    role: again?.role ?? 'user',
    email: again?.email ?? '',
    name: again?.name ?? '',
    validFor: 'week',
    isWithoutModel: false,
  }));
  const { form, formProps, isBusy, failure } = useApiForm<Values>({
    initialValues,
    validate: ({ email, name, isWithoutModel }) => ({
      email: emailFault(email, t),
      name: name.trim() === '' ? null : nameFault(name, t),
      isWithoutModel: hasModel === false && !isWithoutModel ? t('firstModel.needed') : null,
    }),
    submit: async ({ email, name, validFor, isWithoutModel: _, ...choices }) => {
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
      <FirstModel
        way="invite"
        isWithout={values.isWithoutModel}
        error={typeof form.errors.isWithoutModel === 'string' ? form.errors.isWithoutModel : undefined}
        onWithout={(isWithoutModel) => form.setFieldValue('isWithoutModel', isWithoutModel)}
      />
      <FormFailure failure={failure} />
      <div className={classes.actions}>
        {beside}
        <SubmitButton label={t('invitations.create')} busyLabel={t('form.saving')} isBusy={isBusy} />
      </div>
    </form>
  );
}
