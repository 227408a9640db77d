import '../forms/forms.css';
import 'virtual:texts/pages';
import { TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { call } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { meQuery, publicConfigQuery } from '../api/queries.ts';
import classes from '../forms/form.module.css';
import { FormFailure, useWaitText } from '../forms/notice.tsx';
import { PasswordField } from '../forms/password-field.tsx';
import { SubmitButton } from '../forms/submit-button.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { useText } from '../i18n/i18n.ts';
import { useBranding } from '../layout/branding.ts';
import { wasSignedIn } from '../signed-in-flag.ts';
import entryClasses from './sign-in-layout.module.css';
import { EntryPage } from './sign-in-layout.tsx';
import { RefusalNotice, SingleSignOn } from './single-sign-on.tsx';

/** `/sign-in`: returns to where the session ended. Drafts and receipts stay. */
export function SignInPage() {
  const t = useText();
  const { productName } = useBranding();
  const { data: config } = useQuery(publicConfigQuery);
  const search = useSearch({ from: '/sign-in' });
  const goOn = useGoOn(search.return);
  const [hasEnded] = useState(wasSignedIn);
  const { form, formProps, isBusy, failure } = useApiForm({
    initialValues: { email: '', password: '' },
    validate: (values) => ({
      email: values.email.trim() === '' ? t('form.required') : null,
      password: values.password === '' ? t('form.required') : null,
    }),
    submit: async ({ email, password }) => {
      await call('POST /api/auth/sign-in/email', { body: { email: email.trim(), password } });
      await goOn();
    },
    focusAfterFailure: 'password',
  });
  const sso = config?.sso ?? undefined;
  const waitText = useWaitText(failure);
  return (
    <EntryPage
      title={t('signIn.titleNamed', { product: productName })}
      text={search.return === undefined ? (hasEnded ? t('signIn.ended') : undefined) : t('signIn.return')}
    >
      <div className={classes.form}>
        {search.error === undefined ? null : <RefusalNotice code={search.error} label={sso?.label} />}
        {sso ? (
          <>
            <SingleSignOn providerKey={sso.providerKey} label={sso.label} returnTo={search.return ?? '/'} />
            <div className={entryClasses.or}>{t('signIn.or')}</div>
          </>
        ) : null}
        <form {...formProps} className={classes.form}>
          <TextInput
            {...form.getInputProps('email')}
            label={t('person.email')}
            type="email"
            name="email"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus={!matchMedia('(pointer: coarse)').matches}
          />
          <PasswordField
            {...form.getInputProps('password')}
            label={t('person.password')}
            name="password"
            autoComplete="current-password"
          />
          <FormFailure
            failure={failure}
            text={waitText ?? refusalText(failure, { wrong: t('signIn.wrong'), disabled: t('signIn.disabled') })}
          />
          <SubmitButton isWide label={t('signIn.action')} busyLabel={t('signIn.busy')} isBusy={isBusy} />
        </form>
      </div>
    </EntryPage>
  );
}

function refusalText(failure: unknown, texts: { wrong: string; disabled: string }): string | undefined {
  if (!(failure instanceof ApiFailure)) return undefined;
  if (failure.code === 'invalid_credentials') return texts.wrong;
  return failure.code === 'account_disabled' ? texts.disabled : undefined;
}

/** Continues to the return path, immediately if already signed in. */
function useGoOn(returnTo: string | undefined): () => Promise<void> {
  const queries = useQueryClient();
  const router = useRouter();
  const goOn = async () => {
    await queries.fetchQuery({ ...meQuery, staleTime: 0 });
    router.history.replace(returnTo ?? '/');
  };
  useEffect(() => {
    const controller = new AbortController();
    // Returns null, not 401, without a session.
    call('GET /api/auth/get-session', { signal: controller.signal }).then(
      (session) => void (session && !controller.signal.aborted && router.history.replace(returnTo ?? '/')),
      () => {},
    );
    return () => controller.abort();
  }, [router, returnTo]);
  return goOn;
}
