import type { Assistant } from '@homeport/contracts/assistants';
import { ActionIcon, Menu } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Ellipsis, History, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { ConfirmDialog } from '../layout/dialogs/confirm-dialog.tsx';
import { showFailure, showToast } from '../layout/toasts.tsx';
import { VersionsDialog } from './versions-dialog.tsx';

type Props = { assistant: Assistant; isDirty: boolean; onRestored: (assistant: Assistant) => void };

/** Menu of an assistant: opens its versions, deletes it. */
export function AssistantMenu({ assistant, isDirty, onRestored }: Props) {
  const t = useText();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { id, name } = assistant;
  const [dialog, setDialog] = useState<'versions' | 'delete'>();
  const close = () => setDialog(undefined);
  const remove = async () => {
    close();
    try {
      await call('DELETE /api/assistants', { query: { id } });
      showToast(t('assistant.deleted', { name }));
      await navigate({ to: '/assistants', ignoreBlocker: true });
      queries.removeQueries({ queryKey: ['assistants', 'one', id] });
    } catch (error) {
      showFailure(t('assistant.changeFailed'), failureText(error, t));
    }
    void queries.invalidateQueries({ queryKey: ['assistants'] });
  };
  return (
    <>
      <Menu position="bottom-end" width={190}>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={t('assistant.options', { name })}>
            <Ellipsis size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<History size={15} aria-hidden />} onClick={() => setDialog('versions')}>
            {t('assistant.versions')}
          </Menu.Item>
          <Menu.Item
            color="var(--text-danger)"
            leftSection={<Trash2 size={15} aria-hidden />}
            onClick={() => setDialog('delete')}
          >
            {t('assistant.delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'versions' ? (
        <VersionsDialog assistant={assistant} isDirty={isDirty} onRestored={onRestored} onClose={close} />
      ) : null}
      {dialog === 'delete' ? (
        <ConfirmDialog
          title={t('assistant.deleteTitle', { name })}
          text={t('assistant.deleteText')}
          confirmLabel={t('assistant.deleteConfirm')}
          onConfirm={() => void remove()}
          onClose={close}
        />
      ) : null}
    </>
  );
}
