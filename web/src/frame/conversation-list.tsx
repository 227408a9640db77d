import type { Chat } from '@homeport/contracts/conversations';
import { Button, Loader } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { i18n, type TextId, useText } from '../i18n.ts';
import { chatsQuery } from '../queries.ts';
import classes from './conversation-list.module.css';
import { ConversationRow } from './conversation-row.tsx';
import { groupByTime, type TimeGroup } from './time-groups.ts';

/** The conversations by time of their last activity; more are loaded as the end comes into view. */
export function ConversationList({ q, isArchived }: { q: string; isArchived: boolean }) {
  const t = useText();
  const query = useInfiniteQuery(chatsQuery({ q, isArchived }));
  const chats = query.data?.pages.flatMap((page) => page.chats) ?? [];
  if (query.isPending) return <div className={classes.note} />;
  if (query.isError && chats.length === 0) {
    return (
      <div className={classes.note}>
        <p>{t('nav.failed')}</p>
        <Button size="xs" variant="default" onClick={() => void query.refetch()}>
          {t('app.retry')}
        </Button>
      </div>
    );
  }
  if (chats.length === 0)
    return (
      <p className={classes.note}>
        {q === '' ? t(isArchived ? 'nav.emptyArchive' : 'nav.empty') : t('nav.noHits', { query: q })}
      </p>
    );
  return (
    <div className={classes.scroll}>
      {groupByTime(unique(chats), new Date()).map(({ group, items }) => (
        <section key={group} aria-label={groupLabel(group, t)} className={classes.group}>
          <h3 className={classes.heading}>{groupLabel(group, t)}</h3>
          <ul className={classes.list}>
            {items.map((chat) => (
              <ConversationRow key={chat.id} chat={chat} />
            ))}
          </ul>
        </section>
      ))}
      {query.hasNextPage ? (
        <NextPage isLoading={query.isFetchingNextPage} load={() => void query.fetchNextPage()} />
      ) : null}
    </div>
  );
}

/** Pages shift while conversations move to the top: one may come twice. */
function unique(chats: readonly Chat[]): Chat[] {
  return [...new Map(chats.map((chat) => [chat.id, chat])).values()];
}

function groupLabel(group: TimeGroup, t: (id: TextId) => string): string {
  if (group === 'today') return t('nav.today');
  if (group === 'yesterday') return t('nav.yesterday');
  if (group === 'week') return t('nav.week');
  if (group === 'month') return t('nav.month');
  const [year, month] = group.split('-').map(Number);
  const date = new Date(year ?? 0, (month ?? 1) - 1);
  return new Intl.DateTimeFormat(i18n.locale, { month: 'long', year: 'numeric' }).format(date);
}

function NextPage({ isLoading, load }: { isLoading: boolean; load: () => void }) {
  const ref = useRef<HTMLDivElement>(null);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (isLoading || !ref.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && latest.current(), {
      rootMargin: '400px',
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
