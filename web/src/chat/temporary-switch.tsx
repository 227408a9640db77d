import { UnstyledButton } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { MessageSquareDashed } from 'lucide-react';
import { useClientSession } from '../conversation/client-session.ts';
import { newChatName, uploadingChats } from '../conversation/draft/attached-files.ts';
import { pastedName } from '../conversation/draft/pasted-texts.ts';
import { type NewChat, newDraftName } from '../conversation/new-chat.ts';
import { useText } from '../i18n/i18n.ts';
import { showToast } from '../layout/toasts.tsx';
import classes from './conversation-page.module.css';

/** Switch that makes a new conversation temporary. The draft moves with the choice. */
export function TemporarySwitch({ chatId, newChat }: { chatId: string; newChat: NewChat }) {
  const t = useText();
  const navigate = useNavigate();
  const { drafts } = useClientSession();
  const { temporary } = newChat;
  const toggle = () => {
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
  return (
    <UnstyledButton role="switch" aria-checked={temporary} className={classes.temporary} onClick={toggle}>
      <MessageSquareDashed size={15} aria-hidden />
      {t('temporary.switch')}
      <span className={classes.track} aria-hidden />
    </UnstyledButton>
  );
}
