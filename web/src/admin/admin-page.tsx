import './admin-texts.ts';
import { Button } from '@mantine/core';
import { Link, Outlet } from '@tanstack/react-router';
import { useWorkbench } from '../conversation/workbench.ts';
import { EmptyState, Section } from '../frame/section.tsx';
import { useText } from '../i18n.ts';

/** `/settings/admin/*`: for administrators; other users see an explanation instead. */
export function AdminPage() {
  const t = useText();
  const { user } = useWorkbench();
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
