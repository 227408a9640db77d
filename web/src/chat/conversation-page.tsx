import type { Chat, ChatList } from '@homeport/contracts/chat/conversations';
import { Button } from '@mantine/core';
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo } from 'react';
import { newestPlan, openPlan } from '../agent/plan-of.ts';
import { chatsQuery } from '../api/queries.ts';
import { useClientSession } from '../conversation/client-session.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import type { ConversationView } from '../conversation/conversation-view.ts';
import { ThreadActionsContext } from '../conversation/thread-actions.ts';
import { failureText } from '../i18n/failure-text.ts';
import { dateLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import { titleText } from '../i18n/title-text.ts';
import { useTitle } from '../layout/branding.ts';
import { lazyComponent } from '../layout/lazy-component.tsx';
import { ConversationMenu } from '../layout/menus/conversation-menu.tsx';
import { HomeButton, MessagePage } from '../layout/message-page.tsx';
import { useChatChanges } from '../layout/records/use-chat-changes.ts';
import { showToast } from '../layout/toasts.tsx';
import { useIsSlow } from '../layout/use-is-slow.ts';
import type { AppPlace } from '../workspace/previews/previews-api.ts';
import { BudgetLine } from './composer/budget-line.tsx';
import { Composer } from './composer/composer.tsx';
import classes from './conversation-page.module.css';
import { usedContext } from './panels/used-context.ts';
import { Thread } from './thread/thread.tsx';
import { useChoices } from './use-choices.ts';
import { useConversation } from './use-conversation.ts';
import { useConversationActions } from './use-conversation-actions.ts';
import { useSubmission } from './use-submission.ts';
import { useTakingBack } from './use-undo-before-replacing.tsx';

const FilesOfConversation = lazyComponent(
  async () => (await import('./panels/files-of-conversation.tsx')).FilesOfConversation,
);
const WorkspacePanel = lazyComponent(async () => (await import('../workspace/workspace-panel.tsx')).WorkspacePanel);
const ContextPanel = lazyComponent(async () => (await import('../context/context-panel.tsx')).ContextPanel);
const ChangesPanel = lazyComponent(async () => (await import('../workspace/changes/changes-panel.tsx')).ChangesPanel);
const ProjectLink = lazyComponent(async () => (await import('../projects/project-link.tsx')).ProjectLink);
const TemporaryBanner = lazyComponent(async () => (await import('./temporary-banner.tsx')).TemporaryBanner);
const Announcer = lazyComponent(async () => (await import('./thread/announcer.tsx')).Announcer);
const FindBar = lazyComponent(async () => (await import('../layout/find/find-bar.tsx')).FindBar);

/** `/c/<id>`: one conversation. Keyed by its id, so that nothing of one shows in another. */
export function ConversationPage() {
  const { chatId } = useParams({ from: '/signed-in/c/$chatId' });
  return <Conversation key={chatId} chatId={chatId} />;
}

function Conversation({ chatId }: { chatId: string }) {
  const t = useText();
  const { store, view } = useConversation(chatId);
  const { file, panel, saw, changed, cite, port, path, at = '/' } = useSearch({ from: '/signed-in/c/$chatId' });
  const submission = useSubmission(store);
  const { replaces, dialog } = useTakingBack(store);
  const choices = useChoices(store);
  const actions = useConversationActions({ store, choices, submit: submission.submit, replaces });
  const { chat } = view;
  const { used, answerId, isStale } = usedContext(view);
  const context = useMemo(() => ({ used, answerId, isStale }), [used, answerId, isStale]);
  const listedTitle = useListNews(store);
  const known = listedTitle || chat?.title;
  const title = chat?.temporary && !known ? t('temporary.title') : titleText(known, t);
  useTitle(chat || listedTitle ? title : undefined);
  useSeen(view);
  useLeaveNote(store);
  if (view.phase === 'failed' && !submission.pending) return <Missing store={store} view={view} />;
  return (
    <div className={classes.beside}>
      <main id="content" tabIndex={-1} className={classes.page}>
        <header className={classes.head}>
          <h1 className={classes.title}>
            <bdi>{title}</bdi>
          </h1>
          {chat ? <p className={classes.dates}>{daysOf(chat)}</p> : null}
          {chat?.projectId ? <ProjectLink projectId={chat.projectId} /> : null}
          <span className={classes.menu}>
            <ConversationMenu chatId={chatId} />
          </span>
        </header>
        {chat?.temporary ? <TemporaryBanner store={store} chat={chat} /> : null}
        <Find store={store} title={title} />
        <ThreadActionsContext value={actions}>
          {view.phase === 'loading' ? <Loading /> : <Thread store={store} view={view} />}
        </ThreadActionsContext>
        {dialog}
        <Announcer view={view} />
        <BudgetLine isRunning={view.response !== null} />
        {chat?.archived ? (
          <Archived chat={chat} />
        ) : (
          <Composer
            store={store}
            chat={chat}
            inputs={view.inputs}
            plan={openPlan(newestPlan(view.messages, view.plan), view.response !== null)}
            usedContext={context}
            isRunning={view.response !== null}
            isStopping={view.isStopping}
            submission={submission}
            choices={choices}
            draftName={chatId}
          />
        )}
      </main>
      {saw === undefined ? null : (
        <ThreadActionsContext value={actions}>
          <BesideContext store={store} messageId={saw} />
        </ThreadActionsContext>
      )}
      {changed === undefined ? null : <BesideChanges chatId={chatId} messageId={changed} />}
      {file !== undefined || cite !== undefined || panel === 'files' ? (
        <FilesOfConversation chatId={chatId} chat={chat} messages={view.messages} />
      ) : null}
      {file === undefined && panel === 'workspace' ? (
        <ThreadActionsContext value={actions}>
          <BesideWorkspace
            key={`${port} ${at} ${path}`}
            chatId={chatId}
            path={path}
            app={port === undefined ? undefined : { port, at }}
          />
        </ThreadActionsContext>
      ) : null}
    </div>
  );
}

/** The days from the beginning of a conversation to its last change, on paper. */
function daysOf({ createdAt, updatedAt }: Chat): string {
  const format = new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'long' });
  return format.formatRange(new Date(createdAt), new Date(updatedAt));
}

type BesideWorkspaceProps = { chatId: string; path: string | undefined; app: AppPlace | undefined };
function BesideWorkspace({ chatId, ...place }: BesideWorkspaceProps) {
  return <WorkspacePanel {...place} onClose={useClosePanel(chatId)} />;
}

function BesideContext({ store, messageId }: { store: ConversationStore; messageId: string }) {
  return <ContextPanel store={store} messageId={messageId} onClose={useClosePanel(store.chatId)} />;
}

function BesideChanges({ chatId, messageId }: { chatId: string; messageId: string }) {
  return <ChangesPanel chatId={chatId} messageId={messageId} onClose={useClosePanel(chatId)} />;
}

function useClosePanel(chatId: string): () => void {
  const navigate = useNavigate();
  return () => void navigate({ to: '/c/$chatId', params: { chatId }, search: {}, resetScroll: false });
}

/** The shape of a conversation that is on its way, where that takes long enough to be noticed. */
function Loading() {
  const t = useText();
  const isSlow = useIsSlow();
  return (
    <div className={classes.loading} aria-busy="true">
      {isSlow ? (
        <>
          <span className="visually-hidden" role="status">
            {t('thread.loading')}
          </span>
          {[92, 78, 85, 40].map((width) => (
            <span key={width} className={classes.bone} style={{ width: `${width}%` }} />
          ))}
        </>
      ) : null}
    </div>
  );
}

/** Words of the search that led to this page. */
function Find({ store, title }: { store: ConversationStore; title: string }) {
  const { find } = useSearch({ from: '/signed-in/c/$chatId' });
  const navigate = useNavigate();
  const { chatId } = store;
  const close = useCallback(
    () => void navigate({ to: '/c/$chatId', params: { chatId }, search: {}, replace: true }),
    [navigate, chatId],
  );
  if (find === undefined) return null;
  return <FindBar store={store} title={title} query={find} onClose={close} />;
}

function Archived({ chat }: { chat: Chat }) {
  const t = useText();
  const { setArchived } = useChatChanges();
  return (
    <p className={classes.archived}>
      {t('thread.archived')}{' '}
      <Button size="compact-sm" variant="default" onClick={() => void setArchived([chat], false)}>
        {t('nav.restore')}
      </Button>
    </p>
  );
}

function Missing({ store, view }: { store: ConversationStore; view: ConversationView }) {
  const t = useText();
  if (view.failure?.code === 'not_found') {
    return (
      <MessagePage title={t('thread.missingTitle')} action={<HomeButton />}>
        {t('thread.missingText')}
      </MessagePage>
    );
  }
  return (
    <MessagePage
      title={t('thread.failedTitle')}
      action={<Button onClick={() => store.restart()}>{t('app.retry')}</Button>}
    >
      {failureText(view.failure, t)}
    </MessagePage>
  );
}

/** The list is asked regularly; when it knows more of this conversation (another tab or device), the page catches up. The list
 *  also has the title first; it is returned. */
function useListNews(store: ConversationStore): string | undefined {
  const { chatId } = store;
  const select = useCallback(
    (data: InfiniteData<ChatList>) => data.pages.flatMap((page) => page.chats).find((chat) => chat.id === chatId),
    [chatId],
  );
  const { data: listed } = useInfiniteQuery({ ...chatsQuery({ q: '', isArchived: false }), select });
  useEffect(() => {
    const { chat, response } = store.getView();
    if (!listed || !chat || response || document.visibilityState !== 'visible') return;
    const isNews = listed.running || listed.title !== chat.title || listed.updatedAt > chat.updatedAt;
    if (isNews) store.follow();
  }, [listed, store]);
  return listed?.title;
}

/** Explains once, on leaving during an answer, that leaving doesn't stop it. */
function useLeaveNote(store: ConversationStore): void {
  const t = useText();
  useEffect(
    () => () => {
      if (isNoteShown || !store.getView().response) return;
      isNoteShown = true;
      showToast(t('thread.keepsRunning'));
    },
    [store, t],
  );
}

let isNoteShown = false;

/** Marks the conversation as seen while the page is visible. */
function useSeen(view: ConversationView): void {
  const { seen } = useClientSession();
  const { chat } = view;
  useEffect(() => {
    if (chat && document.visibilityState === 'visible') seen.mark(chat.id, chat.updatedAt);
  }, [chat, seen]);
}
