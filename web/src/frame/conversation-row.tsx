import type { Chat } from '@homeport/contracts/conversations';
import { limits } from '@homeport/contracts/limits';
import { ActionIcon, Menu } from '@mantine/core';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Archive, ArchiveRestore, Ellipsis, PencilLine, Trash2 } from 'lucide-react';
import { lazy, Suspense, useState, useSyncExternalStore } from 'react';
import { useText } from '../i18n.ts';
import { useWorkbench } from '../workbench.ts';
import classes from './conversation-list.module.css';
import { useChatChanges } from './use-chat-changes.ts';

const ConfirmDialog = lazy(async () => ({ default: (await import('./confirm-dialog.tsx')).ConfirmDialog }));

/** One conversation of the list: link, dots, menu. */
export function ConversationRow({ chat }: { chat: Chat }) {
  const t = useText();
  const { chatId } = useParams({ strict: false });
  const [isRenaming, setRenaming] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const changes = useChatChanges();
  const isCurrent = chatId === chat.id;
  const title = chat.title === '' ? t('nav.untitled') : chat.title;
  const rename = (text: string) => {
    setRenaming(false);
    if (text !== '' && text !== chat.title) changes.rename(chat, text);
  };
  return (
    <li className={classes.row} data-current={isCurrent || undefined}>
      {isRenaming ? (
        <RenameField title={title} onDone={rename} onCancel={() => setRenaming(false)} />
      ) : (
        <>
          <Link
            to="/c/$chatId"
            params={{ chatId: chat.id }}
            className={classes.link}
            aria-current={isCurrent ? 'page' : undefined}
            title={title}
          >
            <span className={classes.title}>
              <bdi>{title}</bdi>
            </span>
            <Dot chat={chat} isCurrent={isCurrent} />
          </Link>
          <Menu position="bottom-end" width={180}>
            <Menu.Target>
              <ActionIcon
                variant="transparent"
                color="gray"
                size={26}
                className={classes.menu}
                aria-label={t('nav.more', { title })}
              >
                <Ellipsis size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<PencilLine size={15} />} onClick={() => setRenaming(true)}>
                {t('nav.rename')}
              </Menu.Item>
              <Menu.Item
                leftSection={chat.archived ? <ArchiveRestore size={15} /> : <Archive size={15} />}
                onClick={() => changes.setArchived(chat, !chat.archived)}
              >
                {t(chat.archived ? 'nav.restore' : 'nav.archive')}
              </Menu.Item>
              <Menu.Divider />
              <Menu.Item
                color="var(--text-danger)"
                leftSection={<Trash2 size={15} />}
                onClick={() => setDeleting(true)}
              >
                {t('nav.delete')}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
          {isDeleting ? (
            <DeleteDialog chat={chat} title={title} isCurrent={isCurrent} onClose={() => setDeleting(false)} />
          ) : null}
        </>
      )}
    </li>
  );
}

function Dot({ chat, isCurrent }: { chat: Chat; isCurrent: boolean }) {
  const t = useText();
  const { receipts, seen } = useWorkbench();
  const isUnsaved = useSyncExternalStore(receipts.subscribe, () => receipts.state(chat.id) !== undefined);
  if (isUnsaved) return <span className={classes.dot} data-kind="unsaved" role="img" aria-label={t('nav.unsaved')} />;
  if (chat.running)
    return <span className={classes.dot} data-kind="running" role="img" aria-label={t('nav.running')} />;
  if (isCurrent || !seen.isUnread(chat.id, chat.updatedAt)) return null;
  return <span className={classes.dot} data-kind="unread" role="img" aria-label={t('nav.unread')} />;
}

function RenameField({
  title,
  onDone,
  onCancel,
}: {
  title: string;
  onDone: (title: string) => void;
  onCancel: () => void;
}) {
  const t = useText();
  return (
    <input
      className={classes.rename}
      defaultValue={title}
      maxLength={limits.titleMax}
      aria-label={t('nav.renameLabel')}
      ref={(input) => input?.select()}
      onBlur={(event) => onDone(event.currentTarget.value.trim())}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing) return;
        if (event.key === 'Enter') event.currentTarget.blur();
        if (event.key === 'Escape') onCancel();
      }}
    />
  );
}

function DeleteDialog({
  chat,
  title,
  isCurrent,
  onClose,
}: {
  chat: Chat;
  title: string;
  isCurrent: boolean;
  onClose: () => void;
}) {
  const t = useText();
  const navigate = useNavigate();
  const changes = useChatChanges();
  const confirm = async () => {
    onClose();
    if ((await changes.remove(chat)) && isCurrent) await navigate({ to: '/' });
  };
  return (
    <Suspense>
      <ConfirmDialog
        title={t('nav.deleteTitle')}
        text={t('nav.deleteText', { title })}
        confirmLabel={t('nav.deleteConfirm')}
        onConfirm={() => void confirm()}
        onClose={onClose}
      />
    </Suspense>
  );
}
