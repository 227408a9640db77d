import type { Project } from '@homeport/contracts/projects';
import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { MessageSquare, SquarePen } from 'lucide-react';
import { listConversations } from '../api/api.ts';
import { FormFailure } from '../forms/notice.tsx';
import { dateLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import { titleText } from '../i18n/title-text.ts';
import { useIsSlow } from '../layout/use-is-slow.ts';
import classes from './projects.module.css';

/** The user's own conversations in a project. */
export function ProjectChats({ project }: { project: Project }) {
  const t = useText();
  const query = useInfiniteQuery({
    queryKey: ['chats', { projectId: project.id }],
    queryFn: ({ pageParam, signal }) =>
      listConversations({ projectId: project.id, cursor: pageParam, limit: '50' }, signal),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
  });
  const chats = query.data?.pages.flatMap((page) => page.chats) ?? [];
  if (query.isPending) return <Waiting />;
  if (query.isError && chats.length === 0) return <FormFailure failure={query.error} />;
  if (chats.length === 0) {
    return (
      <div className={classes.empty}>
        <h2 className={classes.emptyTitle}>{t('projects.noChatsTitle')}</h2>
        <p>{t('projects.noChatsText')}</p>
        {project.archived ? null : (
          <Button
            renderRoot={(props) => <Link to="/" search={{ project: project.id }} {...props} />}
            variant="default"
            leftSection={<SquarePen size={16} aria-hidden />}
          >
            {t('nav.newConversation')}
          </Button>
        )}
      </div>
    );
  }
  const at = new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium' });
  return (
    <>
      <ul className={classes.chats} aria-label={t('nav.label')}>
        {chats.map((chat) => (
          <li key={chat.id} className={classes.chat}>
            <Link to="/c/$chatId" params={{ chatId: chat.id }} className={classes.chatLink}>
              <MessageSquare size={16} aria-hidden />
              <span className={classes.chatTitle}>
                <bdi>{titleText(chat.title, t)}</bdi>
              </span>
              <span className={classes.when}>{at.format(new Date(chat.updatedAt))}</span>
            </Link>
          </li>
        ))}
      </ul>
      {query.hasNextPage ? (
        <Button
          size="xs"
          variant="default"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t('projects.moreChats')}
        </Button>
      ) : null}
      <p className={classes.hint}>{t('projects.privateHint')}</p>
    </>
  );
}

function Waiting() {
  const t = useText();
  const isSlow = useIsSlow();
  return (
    <div aria-busy="true">
      {isSlow ? (
        <span role="status" className="visually-hidden">
          {t('app.loading')}
        </span>
      ) : null}
    </div>
  );
}
