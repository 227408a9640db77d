import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useText } from '../i18n/i18n.ts';
import { MessagePage } from '../layout/message-page.tsx';
import { useAdministrators } from '../layout/records/use-administrators.ts';
import { useAccess } from '../layout/use-access.ts';

/** The start page without a model: administrators add one, everyone else gets the names to ask. */
export function NoModel() {
  const t = useText();
  const { isAdmin, canEditProviders } = useAccess();
  const administrators = useAdministrators();
  if (isAdmin) {
    return (
      <MessagePage
        title={t('empty.noModelTitle')}
        action={
          <Button component={Link} to="/settings/providers">
            {t('empty.noModelAction')}
          </Button>
        }
      >
        {t('empty.noModelText')}
      </MessagePage>
    );
  }
  const own = canEditProviders ? (
    <Button component={Link} to="/settings/providers" variant="default">
      {t('ask.ownModel')}
    </Button>
  ) : null;
  return (
    <MessagePage title={t('ask.modelTitle')} action={own}>
      {t('ask.model', administrators)}
    </MessagePage>
  );
}
