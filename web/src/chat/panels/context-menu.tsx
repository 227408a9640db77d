import 'virtual:texts/context';
import { Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Eraser, ScanEye, ScrollText } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { call } from '../../api/api.ts';
import { contextQuery } from '../../context/context-api.ts';
import { ContextBar } from '../../context/context-bar.tsx';
import { compactConversation } from '../../conversation/compaction.ts';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { AnchoredMenu } from '../../layout/menus/anchored-menu.tsx';
import type { MenuPlace } from '../../layout/menus/use-menu.ts';
import { showFailure } from '../../layout/toasts.tsx';
import classes from '../composer/composer.module.css';

type Props = MenuPlace & {
  label: string;
  store: ConversationStore;
  used: number;
  /** The newest answer after the context's beginning, where it is complete. */
  answerId: string | undefined;
  contextWindow: number;
  isDisabled: boolean;
};

/** The gauge's figures, and a button that starts a fresh context. */
export function ContextMenu({ label, store, used, answerId, contextWindow, isDisabled, ...place }: Props) {
  const t = useText();
  const navigate = useNavigate();
  const { chatId } = store;
  const { data } = useQuery({ ...contextQuery(chatId, answerId ?? ''), enabled: answerId !== undefined, retry: false });
  const isAutomatic = useSyncExternalStore(store.subscribe, () => store.getView().chat?.autoCompaction ?? true);
  const change = (work: () => Promise<void>, title: string) =>
    work().catch((error: unknown) => showFailure(title, failureText(error, t)));
  const refresh = async () => {
    await call('PATCH /api/chats', { body: { id: chatId, freshContext: true } });
    store.restart();
  };
  return (
    <AnchoredMenu {...place} label={label} position="top-start" width={300}>
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
        leftSection={<ScrollText size={15} aria-hidden />}
        disabled={isDisabled || used === 0}
        onClick={() => void change(() => compactConversation(store), t('thread.summaryFailed'))}
      >
        {t('summary.now')}
        <span className={classes.gaugeHint}>{t('summary.nowText')}</span>
      </Menu.Item>
      <Menu.CheckboxItem
        checked={isAutomatic}
        closeMenuOnClick={false}
        onChange={(autoCompaction) =>
          void change(async () => {
            await call('PATCH /api/chats', { body: { id: chatId, autoCompaction } });
            store.restart();
          }, t('nav.changeFailed'))
        }
      >
        {t('summary.automatic')}
      </Menu.CheckboxItem>
      <Menu.Divider />
      <Menu.Item
        leftSection={<Eraser size={15} aria-hidden />}
        disabled={isDisabled || used === 0}
        onClick={() => void change(refresh, t('context.failed'))}
      >
        {t('context.fresh')}
        <span className={classes.gaugeHint}>{t('context.freshText')}</span>
      </Menu.Item>
    </AnchoredMenu>
  );
}
