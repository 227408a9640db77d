import '../forms/forms.css';
import 'virtual:texts/pages';
import { Button, Loader, TextInput } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { meQuery } from '../api/queries.ts';
import classes from '../forms/form.module.css';
import { FormFailure, Notice, useWaitText } from '../forms/notice.tsx';
import { NewPasswordField } from '../forms/password-field.tsx';
import { nameFault, newPasswordFault } from '../forms/rules.ts';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { dateLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import { useBranding } from '../layout/branding.ts';
import { EntryPage } from './sign-in-layout.tsx';

type Invited = { email: string; name: string | null; expiresAt: string; inviter: string | null };

/** `/invitation#token=…`: creates the account that an administrator offered. Only API requests contain the token. */
export function InvitationPage() {
  const token = useLocation({ select: (location) => new URLSearchParams(location.hash).get('token') ?? '' });
  // Another link opened in the same tab is another invitation.
  return <Invitation key={token} token={token} />;
}

function invitationQuery(token: string) {
  return queryOptions({
    queryKey: ['invitation', token],
    queryFn: async ({ signal }): Promise<Invited> => {
      if (token === '') throw new ApiFailure('not_found', '', { status: 404 });
      const answer = await call('GET /api/invitations', { query: { token }, signal });
      if (!('invitation' in answer)) throw new ApiFailure('unreadable', '');
      // Afterwards, because each refused token counts as a guess.
      const { name: inviter } = await call('GET /api/invitations/inviter', { query: { token }, signal });
      return { ...answer.invitation, inviter };
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

function Invitation({ token }: { token: string }) {
  const t = useText();
  const { productName } = useBranding();
  const { data, error, refetch } = useQuery(invitationQuery(token));
  const [refusal, setRefusal] = useState<unknown>();
  const failure = refusal ?? error;
  if (failure) return <Refused failure={failure} onRetry={() => void refetch()} />;
  if (!data) {
    return (
      <EntryPage title={t('invitation.title', { product: productName })}>
        <Loader aria-label={t('app.loading')} />
      </EntryPage>
    );
  }
  return (
    <EntryPage
      title={t('invitation.title', { product: productName })}
      text={t('invitation.text', {
        inviter: data.inviter ?? 'none',
        date: new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'long', timeStyle: 'short' }).format(
          new Date(data.expiresAt),
        ),
      })}
    >
      <RedeemForm token={token} invited={data} onRefused={setRefusal} />
    </EntryPage>
  );
}

function RedeemForm({
  token,
  invited,
  onRefused,
}: {
  token: string;
  invited: Invited;
  onRefused: (failure: unknown) => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const router = useRouter();
  const other = useSignedIn();
  const { form, formProps, isBusy, failure } = useApiForm({
    initialValues: { name: invited.name ?? '', password: '' },
    validate: ({ name, password }) => ({ name: nameFault(name, t), password: newPasswordFault(password, t) }),
    submit: async ({ name, password }) => {
      try {
        const { user } = await call('PUT /api/invitations', { body: { token, name: name.trim(), password } });
        // Cached data of another account must not leak into the new one.
        queries.removeQueries({ predicate: ({ queryKey: [key] }) => key !== 'public-config' && key !== 'invitation' });
        queries.setQueryData(meQuery.queryKey, { user });
        router.history.replace('/');
      } catch (error) {
        if (error instanceof ApiFailure && isFinal(error)) return onRefused(error);
        throw error;
      }
    },
  });
  const waitText = useWaitText(failure);
  return (
    <form {...formProps} className={classes.form}>
      {other === undefined ? null : <Notice kind="warning">{t('invitation.other', { email: other })}</Notice>}
      <TextInput
        label={t('person.email')}
        value={invited.email}
        readOnly
        type="email"
        name="email"
        autoComplete="username"
      />
      <TextInput
        {...form.getInputProps('name')}
        label={t('person.name')}
        description={t('account.nameHint')}
        name="name"
        autoComplete="name"
        autoFocus={!matchMedia('(pointer: coarse)').matches && invited.name === null}
      />
      <NewPasswordField
        {...form.getInputProps('password')}
        value={form.values.password}
        label={t('person.password')}
        name="new-password"
        autoFocus={!matchMedia('(pointer: coarse)').matches && invited.name !== null}
      />
      <FormFailure failure={failure} text={waitText} />
      <SubmitButton isWide label={t('invitation.action')} busyLabel={t('invitation.busy')} isBusy={isBusy} />
    </form>
  );
}

/** Why an invitation does not open, and what to do instead. */
function Refused({ failure, onRetry }: { failure: unknown; onRetry: () => void }) {
  const t = useText();
  const waitText = useWaitText(failure);
  const code = failure instanceof ApiFailure ? failure.code : undefined;
  const signIn = (
    <Button component={Link} to="/sign-in" fullWidth>
      {t('signIn.title')}
    </Button>
  );
  if (code === 'invitation_used' || code === 'email_taken') {
    const text = code === 'invitation_used' ? 'invitation.usedText' : 'invitation.takenText';
    return (
      <EntryPage title={t('invitation.usedTitle')} text={t(text)}>
        {signIn}
      </EntryPage>
    );
  }
  if (code === 'invitation_expired') {
    return <EntryPage title={t('invitation.expiredTitle')} text={t('invitation.expiredText')} />;
  }
  if (code === 'not_found' || code === 'invalid_request') {
    return <EntryPage title={t('invitation.unknownTitle')} text={t('invitation.unknownText')} />;
  }
  return (
    <EntryPage title={t('invitation.failedTitle')}>
      <div className={classes.form}>
        <FormFailure failure={failure} text={waitText} />
        <Button fullWidth onClick={onRetry}>
          {t('app.retry')}
        </Button>
      </div>
    </EntryPage>
  );
}

function isFinal({ code }: ApiFailure): boolean {
  return code === 'invitation_used' || code === 'invitation_expired' || code === 'not_found' || code === 'email_taken';
}

/** The address of the person who is already signed in in this browser. */
function useSignedIn(): string | undefined {
  const { data } = useQuery({
    queryKey: ['invitation', 'session'],
    // Returns null, not 401, without a session.
    queryFn: ({ signal }) => call('GET /api/auth/get-session', { signal }),
    retry: false,
    gcTime: 0,
  });
  return data?.user.email;
}
