import type { OidcRefusal } from '@homeport/contracts/accounts/accounts';
import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import { call } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { type TextId, useText } from '../i18n/i18n.ts';

type Identity = { providerKey: string; label: string };

/** A text for every reason: a new reason does not compile until it has one. */
const refusalTexts: Record<OidcRefusal, TextId> = {
  access_denied: 'sso.access_denied',
  provider_error: 'sso.provider_error',
  provider_unreachable: 'sso.provider_unreachable',
  invalid_token: 'sso.invalid_token',
  clocks_differ: 'sso.clocks_differ',
  token_encrypted: 'sso.token_encrypted',
  identity_taken: 'sso.identity_taken',
  state_mismatch: 'sso.state_mismatch',
  sso_unavailable: 'sso.sso_unavailable',
  setup_required: 'sso.setup_required',
  email_missing: 'sso.email_missing',
  email_not_verified: 'sso.email_not_verified',
  domain_not_allowed: 'sso.domain_not_allowed',
  account_disabled: 'sso.account_disabled',
  account_not_linked: 'sso.account_not_linked',
  signup_disabled: 'sso.signup_disabled',
  sign_in_failed: 'sso.sign_in_failed',
};

/** Why a single sign-on failed: the `error` in this page's address. */
export function RefusalNotice({ code, label = 'SSO' }: { code: string; label: string | undefined }) {
  const t = useText();
  return <Notice kind="failure">{t(isRefusal(code) ? refusalTexts[code] : 'sso.sign_in_failed', { label })}</Notice>;
}

/** The button that leads to the identity provider, and from there back to `returnTo`. */
export function SingleSignOn({ providerKey, label, returnTo }: Identity & { returnTo: string }) {
  const t = useText();
  const [failure, setFailure] = useState<unknown>();
  const [isLeaving, setLeaving] = useState(false);
  // People who return with the browser's back button find the page as they left it.
  useEffect(() => {
    const stay = () => setLeaving(false);
    addEventListener('pageshow', stay);
    return () => removeEventListener('pageshow', stay);
  }, []);
  const start = async () => {
    setFailure(undefined);
    setLeaving(true);
    try {
      const { pathname, search, hash } = new URL(returnTo, location.origin);
      const callbackURL = pathname + search + hash;
      const errorCallbackURL = returnTo === '/' ? '/sign-in' : `/sign-in?return=${encodeURIComponent(returnTo)}`;
      const body = { provider: providerKey, callbackURL, errorCallbackURL };
      const { url } = await call('POST /api/auth/sign-in/social', { body });
      location.assign(url);
    } catch (error) {
      setFailure(error);
      setLeaving(false);
    }
  };
  const code = failure instanceof ApiFailure ? beginningFailures[failure.code] : undefined;
  return (
    <>
      <Button variant="default" fullWidth loading={isLeaving} onClick={() => void start()}>
        {t('signIn.sso', { label })}
      </Button>
      <FormFailure failure={failure} text={code === undefined ? undefined : t(refusalTexts[code], { label })} />
    </>
  );
}

/** Errors of the request that begins a sign-in, mapped to the refusals of the provider's callback. */
const beginningFailures: Partial<Record<string, OidcRefusal>> = {
  not_found: 'sso_unavailable',
  credentials_unreadable: 'sso_unavailable',
  blocked_destination: 'sso_unavailable',
  provider_unreachable: 'provider_unreachable',
  provider_error: 'provider_error',
};

function isRefusal(code: string): code is OidcRefusal {
  return Object.hasOwn(refusalTexts, code);
}
