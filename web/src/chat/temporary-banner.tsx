import 'virtual:texts/context';
import type { Chat } from '@homeport/contracts/chat/conversations';
import { limits } from '@homeport/contracts/limits';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { MessageSquareDashed } from 'lucide-react';
import { useState } from 'react';
import { call } from '../api/api.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { lazyComponent } from '../layout/lazy-component.tsx';
import { useChatChanges } from '../layout/records/use-chat-changes.ts';
import { showFailure, showToast } from '../layout/toasts.tsx';
import classes from './temporary-banner.module.css';

const ConfirmDialog = lazyComponent(async () => (await import('../layout/dialogs/confirm-dialog.tsx')).ConfirmDialog);

/** Explains a temporary conversation, with buttons to keep or to delete it. */
export function TemporaryBanner({ store, chat }: { store: ConversationStore; chat: Chat }) {
  const t = useText();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { remove } = useChatChanges();
  const [isEnding, setEnding] = useState(false);
  const keep = async () => {
    try {
      await call('PATCH /api/chats', { body: { id: chat.id, temporary: false } });
      showToast(t('temporary.kept'));
      document.querySelector<HTMLElement>('[data-composer]')?.focus();
      store.restart();
      void queries.invalidateQueries({ queryKey: ['chats'] });
    } catch (error) {
      showFailure(t('nav.changeFailed'), failureText(error, t));
    }
  };
  const end = async () => {
    setEnding(false);
    const done = await remove([chat]);
    if (done.length > 0) await navigate({ to: '/', replace: true });
  };
  return (
    <section className={classes.banner} aria-label={t('temporary.title')}>
      <MessageSquareDashed size={16} aria-hidden className={classes.icon} />
      <p>{t('temporary.banner', { hours: limits.temporaryHours })}</p>
      <span className={classes.buttons}>
        <Button size="compact-sm" variant="default" onClick={() => void keep()}>
          {t('temporary.keep')}
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => setEnding(true)}>
          {t('temporary.end')}
        </Button>
      </span>
      {isEnding ? (
        <ConfirmDialog
          title={t('temporary.endTitle')}
          text={t('temporary.endText')}
          confirmLabel={t('temporary.endConfirm')}
          onConfirm={() => void end()}
          onClose={() => setEnding(false)}
        />
      ) : null}
    </section>
  );
}
