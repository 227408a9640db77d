import '../context/told-texts.ts';
import { Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Eraser, ScanEye } from 'lucide-react';
import { call } from '../api.ts';
import { contextQuery } from '../context/context-api.ts';
import { ContextBar } from '../context/context-bar.tsx';
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
  /** The newest answer after the context's beginning, where it is complete. */
  answerId: string | undefined;
  contextWindow: number;
  isDisabled: boolean;
};

/** What the gauge stands for in numbers, and the way to an empty context. */
export function ContextMenu({ label, store, used, answerId, contextWindow, isDisabled, ...place }: Props) {
  const t = useText();
  const navigate = useNavigate();
  const { chatId } = store;
  const { data } = useQuery({ ...contextQuery(chatId, answerId ?? ''), enabled: answerId !== undefined, retry: false });
  const refresh = () =>
    call('PATCH /api/chats', { body: { id: chatId, freshContext: true } }).then(
      () => store.restart(),
      (error: unknown) => showFailure(t('context.failed'), failureText(error, t)),
    );
  return (
    <MenuAt {...place} label={label} position="top-start" width={300}>
      <div className={classes.gaugeText}>
        {data && used > 0 ? (
          <ContextBar context={data} />
        ) : (
          <strong>{used === 0 ? t('context.none') : t('context.used', { used, window: contextWindow })}</strong>
        )}
        <p>{t('context.about')}</p>
      </div>
      <Menu.Divider />
      {data ? (
        <Menu.Item
          leftSection={<ScanEye size={15} aria-hidden />}
          onClick={() => void navigate({ to: '/c/$chatId', params: { chatId }, search: { saw: answerId } })}
        >
          {t('message.saw')}
        </Menu.Item>
      ) : null}
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
