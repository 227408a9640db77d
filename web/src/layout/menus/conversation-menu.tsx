import { ActionIcon } from '@mantine/core';
import { Ellipsis } from 'lucide-react';
import { useState, useSyncExternalStore } from 'react';
import { useClientSession } from '../../conversation/client-session.ts';
import { useText } from '../../i18n/i18n.ts';
import { titleText } from '../../i18n/title-text.ts';
import { lazyComponent } from '../lazy-component.tsx';
import { useChatChanges } from '../records/use-chat-changes.ts';
import { useMenu } from './use-menu.ts';

const ChatInstructionsDialog = lazyComponent(
  async () => (await import('../dialogs/chat-instructions-dialog.tsx')).ChatInstructionsDialog,
);
const DeleteDialog = lazyComponent(async () => (await import('../dialogs/delete-dialog.tsx')).DeleteDialog);
const MoveDialog = lazyComponent(async () => (await import('../dialogs/move-dialog.tsx')).MoveDialog);

const RenameDialog = lazyComponent(async () => (await import('../dialogs/rename-dialog.tsx')).RenameDialog);

const ShareDialog = lazyComponent(async () => (await import('../dialogs/share-dialog.tsx')).ShareDialog);

const RowMenu = lazyComponent(async () => (await import('./row-menu.tsx')).RowMenu);

/** The menu of the open conversation: rename, archive, export, delete. */
export function ConversationMenu({ chatId }: { chatId: string }) {
  const t = useText();
  const { conversation } = useClientSession();
  const store = conversation(chatId);
  const chat = useSyncExternalStore(store.subscribe, () => store.getView().chat);
  const changes = useChatChanges();
  const [dialog, setDialog] = useState<'rename' | 'delete' | 'move' | 'instructions' | 'share'>();
  const { place, buttonProps } = useMenu(RowMenu);
  if (!chat) return null;
  const title = titleText(chat.title, t);
  return (
    <>
      <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('nav.more', { title })} {...buttonProps}>
        <Ellipsis size={19} />
      </ActionIcon>
      {place ? (
        <RowMenu
          {...place}
          chat={chat}
          actions={{
            rename: () => setDialog('rename'),
            setArchived: () => void changes.setArchived([chat], !chat.archived),
            move: () => setDialog('move'),
            instructions: () => setDialog('instructions'),
            share: () => setDialog('share'),
            remove: () => setDialog('delete'),
          }}
        />
      ) : null}
      {dialog === 'instructions' ? <ChatInstructionsDialog chat={chat} onClose={() => setDialog(undefined)} /> : null}
      {dialog === 'share' ? (
        <ShareDialog title={title} source={{ chatId }} onClose={() => setDialog(undefined)} />
      ) : null}
      {dialog === 'move' ? <MoveDialog chat={chat} onClose={() => setDialog(undefined)} /> : null}
      {dialog === 'delete' ? <DeleteDialog chats={[chat]} onClose={() => setDialog(undefined)} /> : null}
      {dialog === 'rename' ? (
        <RenameDialog
          title={title}
          onDone={(text) => {
            setDialog(undefined);
            if (text !== '' && text !== chat.title) void changes.rename(chat, text);
          }}
          onClose={() => setDialog(undefined)}
        />
      ) : null}
    </>
  );
}
