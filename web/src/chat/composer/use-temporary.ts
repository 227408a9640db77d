import { useNavigate } from '@tanstack/react-router';
import { useClientSession } from '../../conversation/client-session.ts';
import { newChatName, uploadingChats } from '../../conversation/draft/attached-files.ts';
import { pastedName } from '../../conversation/draft/pasted-texts.ts';
import { type NewChat, newDraftName } from '../../conversation/new-chat.ts';
import { useText } from '../../i18n/i18n.ts';
import { showToast } from '../../layout/toasts.tsx';

/** Returns a function that makes a new conversation temporary, or a lasting one again. The draft moves with the choice. */
export function useTemporary(chatId: string): (newChat: NewChat) => void {
  const t = useText();
  const navigate = useNavigate();
  const { drafts } = useClientSession();
  return (newChat) => {
    const { temporary } = newChat;
    const from = newDraftName(newChat);
    const to = newDraftName({ ...newChat, temporary: !temporary });
    if (uploadingChats.has(chatId) || drafts.read(newChatName(from)) === chatId) return showToast(t('temporary.fixed'));
    for (const name of [(draft: string) => draft, pastedName]) {
      const text = drafts.read(name(from));
      if (text === '') continue;
      drafts.replace(name(to), text);
      drafts.replace(name(from), '');
    }
    void navigate({
      to: '/',
      search: ({ temporary: _, ...search }) => (temporary ? search : { ...search, temporary: true }),
      replace: true,
    });
  };
}
