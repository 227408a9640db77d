import type { ManagedUser } from '@homeport/contracts/admin';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../layout/dialogs/confirm-dialog.tsx';
import { showFailure, showToast } from '../../layout/toasts.tsx';
import { changeUsers } from '../admin-queries.ts';
import { useIsManaged } from './account-fields.tsx';
import people from './people.module.css';

type Change = { enabled?: boolean; providerSettingsEnabled?: boolean; mcpSettingsEnabled?: boolean };

/** Changes for the selected users. Disabling asks first, since it ends their answers. */
export function SelectionBar({ users, onDone }: { users: readonly ManagedUser[]; onDone: () => void }) {
  const t = useText();
  const queries = useQueryClient();
  const isManaged = useIsManaged();
  const [isDisabling, setDisabling] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const run = async (change: Change) => {
    setDisabling(false);
    setBusy(true);
    try {
      const count = await changeUsers(queries, { ids: users.map(({ id }) => id), ...change });
      showToast(t('users.bulkDone', { count }));
      onDone();
    } catch (error) {
      showFailure(t('settings.changeFailed'), failureText(error, t));
    }
    setBusy(false);
  };
  const persons = users.filter(({ role }) => role === 'user');
  const isSome = (test: (user: ManagedUser) => boolean) => users.some(test);
  const button = (label: string, change: Change) => (
    <Button size="compact-sm" variant="default" aria-disabled={isBusy} onClick={() => !isBusy && void run(change)}>
      {label}
    </Button>
  );
  return (
    <div className={people.bar} role="toolbar" aria-label={t('users.selected', { count: users.length })}>
      <span className={people.selected}>{t('users.selected', { count: users.length })}</span>
      {isSome(({ enabled }) => enabled) ? (
        <Button
          size="compact-sm"
          variant="default"
          aria-disabled={isBusy}
          onClick={() => !isBusy && setDisabling(true)}
        >
          {t('users.selectedDisable')}
        </Button>
      ) : null}
      {isSome(({ enabled }) => !enabled) ? button(t('users.selectedEnable'), { enabled: true }) : null}
      {persons.length > 0 && !isManaged
        ? persons.some(({ providerSettingsEnabled }) => providerSettingsEnabled)
          ? button(t('users.selectedProvidersOff'), { providerSettingsEnabled: false })
          : button(t('users.selectedProvidersOn'), { providerSettingsEnabled: true })
        : null}
      {persons.length > 0
        ? persons.some(({ mcpSettingsEnabled }) => mcpSettingsEnabled)
          ? button(t('users.selectedToolsOff'), { mcpSettingsEnabled: false })
          : button(t('users.selectedToolsOn'), { mcpSettingsEnabled: true })
        : null}
      <Button size="compact-sm" variant="subtle" onClick={onDone}>
        {t('users.selectedNone')}
      </Button>
      {isDisabling ? (
        <ConfirmDialog
          title={t('users.selectedDisableTitle', { count: users.length })}
          text={t('users.selectedDisableText')}
          confirmLabel={t('users.selectedDisableConfirm')}
          onConfirm={() => void run({ enabled: false })}
          onClose={() => setDisabling(false)}
        />
      ) : null}
    </div>
  );
}
