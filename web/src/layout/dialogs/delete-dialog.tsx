import 'virtual:texts/conversation';
import type { Chat } from '@homeport/contracts/chat/conversations';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useText } from '../../i18n/i18n.ts';
import { titleText } from '../../i18n/title-text.ts';
import { useChatChanges } from '../records/use-chat-changes.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';

/** Asks before deleting conversations, then deletes them. */
export function DeleteDialog({ chats, onClose }: { chats: readonly Chat[]; onClose: (isDeleted: boolean) => void }) {
  const t = useText();
  const { chatId } = useParams({ strict: false });
  const navigate = useNavigate();
  const { remove, setArchived } = useChatChanges();
  const [first] = chats;
  if (!first) return null;
  const confirm = async () => {
    onClose(true);
    const done = await remove(chats);
    if (done.some((chat) => chat.id === chatId)) await navigate({ to: '/' });
  };
  const active = chats.filter((chat) => !chat.archived);
  const archive = () => {
    onClose(true);
    void setArchived(active, true);
  };
  const isOne = chats.length === 1;
  return (
    <ConfirmDialog
      title={isOne ? t('nav.deleteTitle') : t('nav.deleteManyTitle', { count: chats.length })}
      text={isOne ? t('nav.deleteText', { title: titleText(first.title, t) }) : t('nav.deleteManyText')}
      confirmLabel={isOne ? t('nav.deleteConfirm') : t('nav.deleteManyConfirm', { count: chats.length })}
      instead={active.length === chats.length ? { label: t('nav.archiveInstead'), run: archive } : undefined}
      onConfirm={() => void confirm()}
      onClose={() => onClose(false)}
    />
  );
}
