import 'virtual:texts/admin';
import 'virtual:texts/audit';
import 'virtual:texts/single-sign-on';
import { Button } from '@mantine/core';
import { Link, Outlet } from '@tanstack/react-router';
import { useClientSession } from '../conversation/client-session.ts';
import { useText } from '../i18n/i18n.ts';
import { EmptyState, Section } from '../layout/section.tsx';

/** `/settings/admin/*`: for administrators; other users see an explanation instead. */
export function AdminPage() {
  const t = useText();
  const { user } = useClientSession();
  if (user.role === 'admin') return <Outlet />;
  return (
    <Section title={t('settings.admin')} text={t('admin.text')}>
      <EmptyState
        title={t('admin.forbiddenTitle')}
        text={t('admin.forbiddenText')}
        action={
          <Button component={Link} to="/settings/account" variant="default">
            {t('admin.forbiddenAction')}
          </Button>
        }
      />
    </Section>
  );
}
