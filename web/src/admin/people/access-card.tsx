import '../../forms/switch.css';
import type { ManagedUser } from '@homeport/contracts/admin';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Notice } from '../../forms/notice.tsx';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { Card } from '../../layout/section.tsx';
import { showFailure, showToast } from '../../layout/toasts.tsx';
import classes from '../admin.module.css';
import { changeUser } from '../admin-queries.ts';
import { type AccountChoices, AccountSwitches, useIsManaged } from './account-fields.tsx';

type Change = Partial<Pick<AccountChoices, 'providerSettingsEnabled' | 'mcpSettingsEnabled'>>;

/** Switches for a user's self-service permissions; they take effect immediately and can be undone. */
export function AccessCard({ user }: { user: ManagedUser }) {
  const t = useText();
  const queries = useQueryClient();
  const isManaged = useIsManaged();
  const [shown, setShown] = useState<Change>({});
  const change = async (next: Change, isUndo = false) => {
    setShown(next);
    const before: Change = Object.fromEntries(Object.entries(next).map(([name, value]) => [name, !value]));
    try {
      await changeUser(queries, { id: user.id, ...next });
      if (!isUndo) {
        showToast(t('users.switched', { name: user.name }), {
          label: t('nav.undo'),
          run: () => void change(before, true),
        });
      }
    } catch (error) {
      showFailure(t('settings.changeFailed'), failureText(error, t));
    }
    setShown({});
  };
  return (
    <Card title={t('users.access')} text={t('users.accessText')}>
      {user.role === 'admin' || isManaged ? (
        <div className={classes.notices}>
          {user.role === 'admin' ? <Notice kind="info">{t('users.accessAdmin')}</Notice> : null}
          {isManaged ? <Notice kind="info">{t('users.accessManaged')}</Notice> : null}
        </div>
      ) : null}
      <AccountSwitches
        values={{ ...user, ...shown }}
        onChange={({ providerSettingsEnabled, mcpSettingsEnabled }) =>
          void change({
            ...(providerSettingsEnabled === undefined ? {} : { providerSettingsEnabled }),
            ...(mcpSettingsEnabled === undefined ? {} : { mcpSettingsEnabled }),
          })
        }
      />
    </Card>
  );
}
