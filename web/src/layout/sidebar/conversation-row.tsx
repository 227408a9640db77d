import type { Chat, ListedChat } from '@homeport/contracts/chat/conversations';
import { limits } from '@homeport/contracts/limits';
import { ActionIcon } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { CircleHelp, CirclePause, Ellipsis, type LucideIcon, TriangleAlert } from 'lucide-react';
import { memo, useSyncExternalStore } from 'react';
import { useClientSession } from '../../conversation/client-session.ts';
import { useText } from '../../i18n/i18n.ts';
import { titleText } from '../../i18n/title-text.ts';
import { Highlighted } from '../find/highlighted.tsx';
import { SearchResult } from '../palette/search-result.tsx';
import classes from './conversation-list.module.css';

type Props = {
  chat: ListedChat;
  isCurrent: boolean;
  /** The only row that Tab reaches; the arrow keys lead to the others. */
  isTabStop: boolean;
  /** Undefined while nothing is being selected. */
  isSelected: boolean | undefined;
  isRenaming: boolean;
  isMenuOpen: boolean;
  /** The search that found it; opening it leads to its hits. */
  find: string | undefined;
  words: readonly string[];
  onRenamed: (chat: Chat, title: string | undefined) => void;
  onMenu: (chat: Chat, button: HTMLElement) => void;
};

/** One conversation in the list: link, dots, menu button. The list handles clicks and keys. */
export const ConversationRow = memo(function ConversationRow(props: Props) {
  const { chat, isCurrent, isTabStop, isSelected, isRenaming, isMenuOpen, find, words, onRenamed, onMenu } = props;
  const t = useText();
  const title = titleText(chat.title, t);
  if (isRenaming) {
    return (
      <li className={classes.row} data-chat={chat.id}>
        <RenameField
          title={title}
          onDone={(text) => onRenamed(chat, text)}
          onCancel={() => onRenamed(chat, undefined)}
        />
      </li>
    );
  }
  const label = (
    <>
      <span className={classes.title}>
        <bdi>
          <Highlighted text={title} words={words} />
        </bdi>
        {find === undefined ? null : <SearchResult chat={chat} />}
      </span>
      <Dot chat={chat} isCurrent={isCurrent} />
    </>
  );
  if (isSelected !== undefined) {
    return (
      <li className={classes.row} data-chat={chat.id} data-selected={isSelected || undefined}>
        {/* biome-ignore lint/a11y/useSemanticElements: a row of the list that is chosen as a whole */}
        <button
          type="button"
          role="checkbox"
          aria-checked={isSelected}
          tabIndex={isTabStop ? 0 : -1}
          data-row
          className={classes.link}
          title={title}
        >
          <span className={classes.box} aria-hidden />
          {label}
        </button>
      </li>
    );
  }
  return (
    <li className={classes.row} data-chat={chat.id} data-current={isCurrent || undefined}>
      <Link
        to="/c/$chatId"
        params={{ chatId: chat.id }}
        search={find === undefined ? {} : { find }}
        preload={false}
        className={classes.link}
        tabIndex={isTabStop ? 0 : -1}
        data-row
        draggable={false}
        aria-current={isCurrent ? 'page' : undefined}
        title={title}
      >
        {label}
      </Link>
      <ActionIcon
        variant="transparent"
        color="gray"
        size={26}
        className={classes.menu}
        tabIndex={isTabStop ? 0 : -1}
        aria-label={t('nav.more', { title })}
        aria-haspopup="menu"
        aria-expanded={isMenuOpen}
        data-menu
        onClick={(event) => onMenu(chat, event.currentTarget)}
      >
        <Ellipsis size={16} />
      </ActionIcon>
    </li>
  );
});

function Dot({ chat, isCurrent }: { chat: Chat; isCurrent: boolean }) {
  const t = useText();
  const { receipts, seen } = useClientSession();
  const isUnsaved = useSyncExternalStore(receipts.subscribe, () => receipts.state(chat.id) !== undefined);
  const isUnread = !isCurrent && seen.isUnread(chat.id, chat.updatedAt);
  if (isUnsaved) return <span className={classes.dot} data-kind="unsaved" role="img" aria-label={t('nav.unsaved')} />;
  if (chat.waiting) return <Sign kind="waiting" label={t('nav.waiting')} Icon={CircleHelp} />;
  if (chat.running)
    return <span className={classes.dot} data-kind="running" role="img" aria-label={t('nav.running')} />;
  if (!isUnread) return null;
  if (chat.lastStatus === 'failed') return <Sign kind="failed" label={t('nav.answerFailed')} Icon={TriangleAlert} />;
  if (chat.lastStatus === 'interrupted')
    return <Sign kind="failed" label={t('nav.answerInterrupted')} Icon={CirclePause} />;
  return <span className={classes.dot} data-kind="unread" role="img" aria-label={t('nav.unread')} />;
}

function Sign({ kind, label, Icon }: { kind: string; label: string; Icon: LucideIcon }) {
  return (
    <span className={classes.sign} data-kind={kind} role="img" aria-label={label} title={label}>
      <Icon size={15} aria-hidden />
    </span>
  );
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
      data-renaming
      defaultValue={title}
      maxLength={limits.titleMax}
      aria-label={t('nav.renameLabel')}
      // biome-ignore lint/a11y/noAutofocus: the person has just asked to type here
      autoFocus
      onFocus={(event) => event.currentTarget.select()}
      onBlur={(event) => onDone(event.currentTarget.value.trim())}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.nativeEvent.isComposing) return;
        if (event.key === 'Enter') event.currentTarget.blur();
        if (event.key === 'Escape') {
          event.preventDefault();
          onCancel();
        }
      }}
    />
  );
}
