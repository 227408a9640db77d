import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { call } from '../api/api.ts';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { markSignedIn } from '../signed-in-flag.ts';
import { showFailure } from './toasts.tsx';

/** Ends the session and goes to the sign-in page. Drafts and receipts stay. */
export function useSignOut(): () => Promise<void> {
  const t = useText();
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    let url: string | undefined;
    try {
      ({ url } = await call('POST /api/auth/sign-out', {}));
    } catch (error) {
      showFailure(t('nav.changeFailed'), failureText(error, t));
      return;
    }
    markSignedIn(false);
    // The identity provider ends its own session, and redirects to the sign-in page.
    if (url !== undefined) return location.assign(url);
    await navigate({ to: '/sign-in', search: {} });
    queries.removeQueries({ predicate: (query) => query.queryKey[0] !== 'public-config' });
  };
}
