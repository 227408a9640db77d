import 'virtual:texts/pages';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { meQuery } from '../api/queries.ts';
import { ChangePasswordForm } from '../forms/change-password-form.tsx';
import { useText } from '../i18n/i18n.ts';
import { useSignOut } from '../layout/sign-out.ts';
import { showToast } from '../layout/toasts.tsx';
import { EntryPage } from './sign-in-layout.tsx';

/** `/password`: shown first if the account's password was set by another person. */
export function PasswordPage() {
  const t = useText();
  const router = useRouter();
  const { return: returnTo } = useSearch({ from: '/password' });
  const user = useQuery(meQuery).data?.user;
  const signOut = useSignOut();
  if (!user) return null;
  const goOn = () => {
    showToast(t('password.done'));
    router.history.replace(returnTo ?? '/');
  };
  return (
    <EntryPage title={t('password.title')} text={user.mustChangePassword ? t('password.forced') : undefined}>
      <ChangePasswordForm
        email={user.email}
        onChanged={goOn}
        beside={
          <Button variant="subtle" color="gray" onClick={() => void signOut()}>
            {t('account.signOut')}
          </Button>
        }
      />
    </EntryPage>
  );
}
