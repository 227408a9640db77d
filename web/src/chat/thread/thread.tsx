import type { Message } from '@homeport/contracts/chat/conversations';
import { Button } from '@mantine/core';
import { ArrowDown } from 'lucide-react';
import { Fragment, type RefObject, useMemo, useState, useSyncExternalStore } from 'react';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import type { ConversationView } from '../../conversation/conversation-view.ts';
import { beginResponse } from '../../conversation/submission.ts';
import { knownFiles } from '../../conversation/workspace-paths.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../layout/lazy-component.tsx';
import { FilePaths } from '../../markdown/links/file-paths.ts';
import { ActionButton, Problem } from './answer-status.tsx';
import { MessageView, Waiting } from './message-view.tsx';
import classes from './thread.module.css';
import { useFollowScroll } from './use-follow-scroll.ts';

const ProviderWaitNote = lazyComponent(async () => (await import('./provider-wait.tsx')).ProviderWaitNote);
const QuoteButton = lazyComponent(async () => (await import('./quote-button.tsx')).QuoteButton);
const SummaryLine = lazyComponent(async () => (await import('./summary-line.tsx')).SummaryLine);

/** The messages of a conversation, from the oldest loaded to the answer that is arriving. */
export function Thread({ store, view }: { store: ConversationStore; view: ConversationView }) {
  const t = useText();
  const lastOwn = view.messages.findLast((message) => message.role === 'user')?.id;
  const scroll = useFollowScroll(lastOwn);
  const { messages, response, startFailure, chat, summaries } = view;
  const isRunning = response !== null;
  const files = useMemo(() => knownFiles(messages), [messages]);
  const makesSummary = response?.kind === 'compaction';
  const isWaiting = isRunning && !makesSummary && !messages.some((message) => message.id === response.assistantId);
  return (
    <div className={classes.thread}>
      <div
        className={classes.scroller}
        ref={scroll.scroller}
        role="log"
        aria-live="off"
        aria-label={t('thread.log')}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        {...scroll.handlers}
      >
        <div className={classes.column} ref={scroll.content}>
          {view.nextBefore === null ? null : <Older store={store} scroller={scroll.scroller} />}
          <div className={scroll.preference === 'stay' ? classes.staying : undefined}>
            <FilePaths value={files}>
              {messages.map((message, index) => (
                <Fragment key={message.id}>
                  <ThreadMessage
                    store={store}
                    message={message}
                    isLast={index === messages.length - 1}
                    isRunning={isRunning}
                  />
                  {summaries.map((summary, at) =>
                    summary.upToMessageId === message.id ? (
                      <SummaryLine
                        key={summary.id}
                        store={store}
                        summary={summary}
                        isNewest={at === summaries.length - 1}
                        isRunning={isRunning}
                      />
                    ) : null,
                  )}
                  {message.id === chat?.contextStartMessageId ? (
                    <p className={classes.context}>{t('thread.freshContext')}</p>
                  ) : null}
                </Fragment>
              ))}
            </FilePaths>
            {isWaiting ? <Waiting /> : null}
            {messages.length === 0 && !isRunning ? <p className={classes.empty}>{t('empty.greeting')}</p> : null}
            {startFailure && !isRunning ? (
              <Problem
                title={t('message.failedStart')}
                text={failureText(startFailure.failure, t)}
                code={startFailure.failure.code}
              >
                <ActionButton
                  icon={null}
                  label={t('app.retry')}
                  onClick={() => void beginResponse(store, { messageId: startFailure.messageId })}
                />
              </Problem>
            ) : null}
          </div>
          {isRunning && (makesSummary || view.isSummarizing) ? (
            <p role="status" className={`${classes.note} ${classes.working}`}>
              {t('thread.summarizing')}
            </p>
          ) : null}
          {view.summaryFailure !== undefined && !isRunning ? (
            <Problem title={t('thread.summaryFailed')} text={view.summaryFailure} />
          ) : null}
          {view.providerWait && isRunning ? <ProviderWaitNote wait={view.providerWait} /> : null}
          {view.connection === 'reconnecting' && isRunning ? (
            <p role="status" className={classes.note}>
              {t('thread.reconnecting')}
            </p>
          ) : null}
        </div>
      </div>
      <QuoteButton thread={scroll.scroller} />
      {scroll.showsJump ? (
        <Button
          className={classes.jump}
          size="xs"
          radius="xl"
          variant="default"
          leftSection={<ArrowDown size={14} aria-hidden />}
          onClick={scroll.jump}
        >
          {t('thread.jump')}
        </Button>
      ) : null}
    </div>
  );
}

type ThreadMessageProps = { store: ConversationStore; message: Message; isLast: boolean; isRunning: boolean };

/** One message; while it arrives it is shown as it is now, and nothing around it is rendered for its words. */
function ThreadMessage({ store, message, isLast, isRunning }: ThreadMessageProps) {
  const isArriving = message.status === 'streaming';
  const read = () => (isArriving ? (store.messageOf(message.id) ?? message) : message);
  const current = useSyncExternalStore(isArriving ? store.subscribe : noChanges, read);
  return <MessageView message={current} isLast={isLast} isRunning={isRunning} />;
}

const noChanges = () => () => {};

function Older({ store, scroller }: { store: ConversationStore; scroller: RefObject<HTMLElement | null> }) {
  const t = useText();
  const [state, setState] = useState<'idle' | 'loading' | 'failed'>('idle');
  const load = async () => {
    setState('loading');
    const first = scroller.current?.querySelector('[data-message]');
    let before = 0;
    const measure = () => {
      before = topOf(first);
    };
    const isLoaded = await store.loadOlder(measure).then(
      () => true,
      () => false,
    );
    setState(isLoaded ? 'idle' : 'failed');
    // At the very top browsers do not keep in place what is read; the page is drawn only after this.
    if (isLoaded && scroller.current) scroller.current.scrollTop += topOf(first) - before;
  };
  return (
    <div className={classes.older}>
      {state === 'failed' ? <p className={classes.note}>{t('thread.olderFailed')}</p> : null}
      <Button size="xs" variant="subtle" color="gray" loading={state === 'loading'} onClick={() => void load()}>
        {t('thread.older')}
      </Button>
    </div>
  );
}

function topOf(element: Element | null | undefined): number {
  return element?.getBoundingClientRect().top ?? 0;
}
