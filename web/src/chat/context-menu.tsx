import { Menu } from '@mantine/core';
import { Eraser } from 'lucide-react';
import { call } from '../api.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { failureText } from '../failure-text.ts';
import { MenuAt } from '../frame/menu-at.tsx';
import { showFailure } from '../frame/toasts.tsx';
import type { MenuPlace } from '../frame/use-menu.ts';
import { useText } from '../i18n.ts';
import classes from './composer.module.css';

type Props = MenuPlace & {
  label: string;
  store: ConversationStore;
  used: number;
  contextWindow: number;
  isDisabled: boolean;
};

/** What the gauge stands for in numbers, and the way to an empty context. */
export function ContextMenu({ label, store, used, contextWindow, isDisabled, ...place }: Props) {
  const t = useText();
  const refresh = () =>
    call('PATCH /api/chats', { body: { id: store.chatId, freshContext: true } }).then(
      () => store.restart(),
      (error: unknown) => showFailure(t('context.failed'), failureText(error, t)),
    );
  return (
    <MenuAt {...place} label={label} position="top-start" width={280}>
      <div className={classes.gaugeText}>
        <strong>{used === 0 ? t('context.none') : t('context.used', { used, window: contextWindow })}</strong>
        <p>{t('context.about')}</p>
      </div>
      <Menu.Divider />
      <Menu.Item
        leftSection={<Eraser size={15} aria-hidden />}
        disabled={isDisabled || used === 0}
        onClick={() => void refresh()}
      >
        {t('context.fresh')}
        <span className={classes.gaugeHint}>{t('context.freshText')}</span>
      </Menu.Item>
    </MenuAt>
  );
}
