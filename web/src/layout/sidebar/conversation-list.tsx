import type { Chat, ListedChat } from '@homeport/contracts/chat/conversations';
import { searchWords } from '@homeport/contracts/text/search-words';
import { Button, Loader } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { chatsQuery } from '../../api/queries.ts';
import { dateLocale } from '../../i18n/format-locale.ts';
import { type TextId, useText } from '../../i18n/i18n.ts';
import { titleText } from '../../i18n/title-text.ts';
import { lazyComponent } from '../lazy-component.tsx';
import { useChatChanges } from '../records/use-chat-changes.ts';
import { useIsSlow } from '../use-is-slow.ts';
import classes from './conversation-list.module.css';
import { ConversationRow } from './conversation-row.tsx';
import { extendTo, noSelection, type RowSelection, toggleRow } from './row-selection.ts';
import { groupByTime, type TimeGroup } from './time-groups.ts';
import { focusRow, useListInput } from './use-list-input.ts';
import { useSelectionMode } from './use-selection-mode.ts';

const ChatInstructionsDialog = lazyComponent(
  async () => (await import('../dialogs/chat-instructions-dialog.tsx')).ChatInstructionsDialog,
);
const DeleteDialog = lazyComponent(async () => (await import('../dialogs/delete-dialog.tsx')).DeleteDialog);
const MoveDialog = lazyComponent(async () => (await import('../dialogs/move-dialog.tsx')).MoveDialog);
const ShareDialog = lazyComponent(async () => (await import('../dialogs/share-dialog.tsx')).ShareDialog);
const RowMenu = lazyComponent(async () => (await import('../menus/row-menu.tsx')).RowMenu);
const SelectionBar = lazyComponent(async () => (await import('./selection-bar.tsx')).SelectionBar);

/** Conversations by their last activity; more are loaded as the end comes into view. */
export function ConversationList({ q, isArchived }: { q: string; isArchived: boolean }) {
  const t = useText();
  const query = useInfiniteQuery(chatsQuery({ q, isArchived }));
  const { data } = query;
  const chats = useMemo(() => unique(data?.pages.flatMap((page) => page.chats) ?? []), [data]);
  if (query.isPending) return <Waiting />;
  if (query.isError && chats.length === 0) {
    return (
      <div className={classes.note} role="alert">
        <p>{t('nav.failed')}</p>
        <Button size="xs" variant="default" onClick={() => void query.refetch()}>
          {t('app.retry')}
        </Button>
      </div>
    );
  }
  if (chats.length === 0) {
    const text = q === '' ? t(isArchived ? 'nav.emptyArchive' : 'nav.empty') : t('nav.noHits', { query: q });
    return (
      <div className={classes.note} role={q === '' ? undefined : 'status'}>
        <p>{text}</p>
        {q === '' ? null : <p>{t('nav.noHitsHint')}</p>}
      </div>
    );
  }
  return (
    <Rows key={`${isArchived} ${q}`} chats={chats} q={q} isArchived={isArchived}>
      {query.hasNextPage ? (
        <NextPage isLoading={query.isFetchingNextPage} load={() => void query.fetchNextPage()} />
      ) : null}
    </Rows>
  );
}

type RowsProps = { chats: readonly ListedChat[]; q: string; isArchived: boolean; children: React.ReactNode };

function Rows({ chats, q, isArchived, children }: RowsProps) {
  const t = useText();
  const { chatId } = useParams({ strict: false });
  const changes = useChatChanges();
  const scroller = useRef<HTMLDivElement>(null);
  const [selection, setSelection] = useState<RowSelection>(noSelection);
  const [focused, setFocused] = useState<string>();
  const [renaming, setRenaming] = useState<string>();
  const [menu, setMenu] = useState<{ chat: Chat; button: HTMLElement }>();
  const [moving, setMoving] = useState<Chat>();
  const [sharing, setSharing] = useState<Chat>();
  const [instructing, setInstructing] = useState<Chat>();
  const [deleting, setDeleting] = useState<readonly Chat[]>([]);
  const words = useMemo(() => searchWords(q), [q]);
  const order = useMemo(() => chats.map((chat) => chat.id), [chats]);
  const chosen = chats.filter((chat) => selection.ids.has(chat.id));
  const tabStop = [focused, chatId].find((id) => id !== undefined && order.includes(id)) ?? order[0];

  const byId = (id: string) => chats.find((chat) => chat.id === id);
  /** Moves the focus after `gone` have left the list. */
  const focusAfter = (gone: readonly Chat[]) => {
    const ids = new Set(gone.map((chat) => chat.id));
    const at = order.findIndex((id) => ids.has(id));
    const next = order.slice(at).find((id) => !ids.has(id)) ?? order.slice(0, at).findLast((id) => !ids.has(id));
    setFocused(next);
    setSelection(noSelection);
    requestAnimationFrame(() => focusRow(scroller.current, next));
  };
  const setArchived = (some: readonly Chat[]) => {
    void changes.setArchived(some, !isArchived);
    focusAfter(some);
  };
  const closeMenu = () => {
    menu?.button.focus();
    setMenu(undefined);
  };
  const handlers = useListInput({
    order: () => order,
    isSelecting: () => selection.isActive,
    toggle: (id) => setSelection((known) => toggleRow(known, id)),
    extend: (id) =>
      setSelection((known) => extendTo(known.anchor === undefined ? anchorAt(known, chatId) : known, id, order)),
    clear: () => setSelection(noSelection),
    rename: setRenaming,
    remove: (id) => {
      const one = byId(id);
      setDeleting(selection.isActive ? chosen : one ? [one] : []);
    },
    openMenu: (id) =>
      scroller.current?.querySelector<HTMLElement>(`[data-chat="${CSS.escape(id)}"] [data-menu]`)?.click(),
    focused: setFocused,
  });
  useSelectionMode({ isActive: selection.isActive, list: scroller, focused, leave: () => setSelection(noSelection) });
  const onRenamed = useCallback(
    (chat: Chat, title: string | undefined) => {
      setRenaming(undefined);
      if (title !== undefined && title !== '' && title !== chat.title) void changes.rename(chat, title);
      requestAnimationFrame(() => {
        if (document.activeElement === document.body) focusRow(scroller.current, chat.id);
      });
    },
    [changes],
  );
  const onMenu = useCallback(
    (chat: Chat, button: HTMLElement) => setMenu((open) => (open?.button === button ? undefined : { chat, button })),
    [],
  );

  return (
    <>
      {selection.isActive ? (
        <SelectionBar
          count={chosen.length}
          isArchived={isArchived}
          onAll={() => setSelection({ ids: new Set(order), anchor: selection.anchor, isActive: true })}
          onArchive={() => setArchived(chosen)}
          onDelete={() => setDeleting(chosen)}
          onClose={() => setSelection(noSelection)}
        />
      ) : null}
      <div
        className={classes.scroll}
        ref={scroller}
        onScroll={() => setMenu(undefined)}
        onPointerEnter={RowMenu.preload}
        {...handlers}
      >
        {groupByTime(chats, new Date()).map(({ group, items }) => (
          <section key={group} aria-label={groupLabel(group, t)} className={classes.group}>
            <h3 className={classes.heading}>{groupLabel(group, t)}</h3>
            <ul className={classes.list}>
              {items.map((chat) => (
                <ConversationRow
                  key={chat.id}
                  chat={chat}
                  isCurrent={chatId === chat.id}
                  isTabStop={tabStop === chat.id}
                  isSelected={selection.isActive ? selection.ids.has(chat.id) : undefined}
                  isRenaming={renaming === chat.id}
                  isMenuOpen={menu?.chat.id === chat.id}
                  find={q === '' ? undefined : q}
                  words={words}
                  onRenamed={onRenamed}
                  onMenu={onMenu}
                />
              ))}
            </ul>
          </section>
        ))}
        {children}
      </div>
      {menu ? (
        <RowMenu
          key={menu.chat.id}
          chat={menu.chat}
          button={menu.button}
          onClose={closeMenu}
          actions={{
            rename: () => setRenaming(menu.chat.id),
            setArchived: () => setArchived([menu.chat]),
            move: () => setMoving(menu.chat),
            instructions: () => setInstructing(menu.chat),
            share: () => setSharing(menu.chat),
            remove: () => setDeleting([menu.chat]),
            select: () => setSelection((known) => toggleRow(known, menu.chat.id)),
          }}
        />
      ) : null}
      {instructing ? <ChatInstructionsDialog chat={instructing} onClose={() => setInstructing(undefined)} /> : null}
      {sharing ? (
        <ShareDialog
          title={titleText(sharing.title, t)}
          source={{ chatId: sharing.id }}
          onClose={() => setSharing(undefined)}
        />
      ) : null}
      {moving ? <MoveDialog chat={moving} onClose={() => setMoving(undefined)} /> : null}
      {deleting.length > 0 ? (
        <DeleteDialog
          chats={deleting}
          onClose={(isDeleted) => {
            setDeleting([]);
            if (isDeleted) focusAfter(deleting);
          }}
        />
      ) : null}
    </>
  );
}

/** A first Shift+click extends from the open conversation. */
function anchorAt(selection: RowSelection, chatId: string | undefined): RowSelection {
  return { ...selection, anchor: chatId };
}

/** Pages shift while conversations move to the top: a duplicate's first position is the current one. */
function unique(chats: readonly ListedChat[]): ListedChat[] {
  const seen = new Set<string>();
  return chats.filter((chat) => !seen.has(chat.id) && seen.add(chat.id));
}

function groupLabel(group: TimeGroup, t: (id: TextId) => string): string {
  if (group === 'today') return t('nav.today');
  if (group === 'yesterday') return t('nav.yesterday');
  if (group === 'week') return t('nav.week');
  if (group === 'month') return t('nav.month');
  const [year, month] = group.split('-').map(Number);
  const date = new Date(year ?? 0, (month ?? 1) - 1);
  return new Intl.DateTimeFormat(dateLocale(), { month: 'long', year: 'numeric' }).format(date);
}

/** Placeholders for the list while it loads, if that takes noticeably long. */
function Waiting() {
  const t = useText();
  const isSlow = useIsSlow();
  return (
    <div className={classes.waiting} aria-busy="true">
      {isSlow ? (
        <>
          <span className="visually-hidden" role="status">
            {t('app.loading')}
          </span>
          {[68, 84, 52, 76, 60].map((width) => (
            <span key={width} className={classes.bone} style={{ width: `${width}%` }} />
          ))}
        </>
      ) : null}
    </div>
  );
}

function NextPage({ isLoading, load }: { isLoading: boolean; load: () => void }) {
  const ref = useRef<HTMLDivElement>(null);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (isLoading || !ref.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && latest.current(), {
      rootMargin: '1200px',
    });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, [isLoading]);
  return (
    <div ref={ref} className={classes.next}>
      {isLoading ? <Loader size="xs" color="gray" /> : null}
    </div>
  );
}
