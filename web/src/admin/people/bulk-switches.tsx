import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/api.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../layout/dialogs/confirm-dialog.tsx';
import { showFailure, showToast } from '../../layout/toasts.tsx';
import classes from '../admin.module.css';
import { useIsManaged } from './account-fields.tsx';

type Name = 'providerSettingsEnabled' | 'mcpSettingsEnabled';
type Change = { name: Name; value: boolean };

const labels = { providerSettingsEnabled: 'users.providerSwitch', mcpSettingsEnabled: 'users.mcpSwitch' } as const;

/** A switch for all accounts at once. It asks first, since each account's previous value is lost. */
export function BulkSwitches() {
  const t = useText();
  const queries = useQueryClient();
  const isManaged = useIsManaged();
  const [asked, setAsked] = useState<Change>();
  const [isBusy, setBusy] = useState(false);
  const names: Name[] = isManaged ? ['mcpSettingsEnabled'] : ['providerSettingsEnabled', 'mcpSettingsEnabled'];
  const run = async ({ name, value }: Change) => {
    setAsked(undefined);
    setBusy(true);
    try {
      const answer = await call('PATCH /api/admin/users', { body: { all: true, [name]: value } });
      if (!('updated' in answer)) throw new ApiFailure('unreadable', '');
      showToast(t('users.bulkDone', { count: answer.updated }));
      await queries.invalidateQueries({ queryKey: ['admin-users'] });
    } catch (error) {
      showFailure(t('settings.changeFailed'), failureText(error, t));
    }
    setBusy(false);
  };
  return (
    <ul className={classes.bulk}>
      {names.map((name) => (
        <li key={name} className={classes.bulkRow}>
          <span className={classes.bulkName}>{t(labels[name])}</span>
          <span className={classes.choices}>
            {[true, false].map((value) => (
              <Button
                key={String(value)}
                size="compact-sm"
                variant="default"
                aria-disabled={isBusy}
                aria-label={t(value ? 'users.bulkOnNamed' : 'users.bulkOffNamed', { what: t(labels[name]) })}
                onClick={() => !isBusy && setAsked({ name, value })}
              >
                {t(value ? 'users.bulkOn' : 'users.bulkOff')}
              </Button>
            ))}
          </span>
        </li>
      ))}
      {asked ? (
        <ConfirmDialog
          title={t(asked.value ? 'users.bulkOnTitle' : 'users.bulkOffTitle', { what: t(labels[asked.name]) })}
          text={t(asked.value ? `users.bulkOn.${asked.name}` : `users.bulkOff.${asked.name}`)}
          confirmLabel={t(asked.value ? 'users.bulkOn' : 'users.bulkOff')}
          isGentle={asked.value}
          onConfirm={() => void run(asked)}
          onClose={() => setAsked(undefined)}
        />
      ) : null}
    </ul>
  );
}
