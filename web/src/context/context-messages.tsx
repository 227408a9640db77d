import type { AnswerContext } from '@homeport/contracts/chat/context';
import type { Message } from '@homeport/contracts/chat/conversations';
import { Button } from '@mantine/core';
import { useState, useSyncExternalStore } from 'react';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { failureText } from '../i18n/failure-text.ts';
import { type Translate, useText } from '../i18n/i18n.ts';
import { nextPaint, revealElement } from '../layout/find/thread-hits.ts';
import { showFailure } from '../layout/toasts.tsx';
import classes from './context.module.css';
import { countStates } from './context-shares.ts';

type Props = { context: AnswerContext; store: ConversationStore; onLeave: (() => void) | undefined };
type Entry = AnswerContext['messages'][number];

const shownAtFirst = 30;
const excerptMax = 120;

/**
 * The messages before the answer, newest first: which were sent, and what became of the others. Each leads to its
 * place.
 */
export function ContextMessages({ context, store, onLeave }: Props) {
  const t = useText();
  const { messages } = useSyncExternalStore(store.subscribe, store.getOutline);
  const [isWhole, setWhole] = useState(false);
  const known = new Map(messages.map((message) => [message.id, message]));
  const newestFirst = context.messages.toReversed();
  const shown = isWhole ? newestFirst : newestFirst.slice(0, shownAtFirst);
  const { sent, summarized, omitted } = countStates(context.messages);
  const left = omitted + context.earlierMessages;
  const counts = [
    t('saw.sent', { count: sent }),
    ...(summarized > 0 ? [t('saw.summarized', { count: summarized })] : []),
    ...(left > 0 ? [t('saw.omitted', { count: left })] : []),
  ];
  const go = async (id: string) => {
    onLeave?.();
    try {
      if (!(await showMessage(store, id))) showFailure(t('saw.notFound'), t('saw.notFoundText'));
    } catch (error) {
      showFailure(t('thread.olderFailed'), failureText(error, t));
    }
  };
  return (
    <section className={classes.section}>
      <h3>{t('saw.messages')}</h3>
      <p className={classes.soft}>{counts.join(' ·\u00a0')}</p>
      <ol className={classes.messages} reversed>
        {shown.map((entry) => (
          <li key={entry.id} data-state={entry.state}>
            <button type="button" className={classes.message} onClick={() => void go(entry.id)}>
              <span className={classes.words}>{wordsOf(known.get(entry.id), t)}</span>
              <span className={classes.amount}>{t('saw.tokens', { tokens: entry.tokens })}</span>
              {isWhollySent(entry) ? null : <span className={classes.state}>{stateOf(entry, t)}</span>}
            </button>
          </li>
        ))}
      </ol>
      {shown.length < newestFirst.length ? (
        <Button size="xs" variant="subtle" color="gray" onClick={() => setWhole(true)}>
          {t('saw.showAll', { count: newestFirst.length })}
        </Button>
      ) : null}
    </section>
  );
}

function wordsOf(message: Message | undefined, t: Translate): string {
  if (!message) return t('saw.earlier');
  const who = t(message.role === 'user' ? 'thread.you' : 'thread.answer');
  const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ');
  return `${who}: ${text.slice(0, excerptMax)}`;
}

function isWhollySent({ state, reason }: Entry): boolean {
  return state === 'sent' && reason === undefined;
}

/** The server gives its reasons in English. */
const reasons = { 'As the first request': 'saw.firstRequest', 'Its tool calls in short': 'saw.toolsShort' } as const;

function stateOf({ state, reason = '' }: Entry, t: Translate): string {
  if (state !== 'sent') return t(`saw.state.${state}`);
  const known = Object.entries(reasons).find(([text]) => text === reason);
  return known ? t(known[1]) : reason;
}

/** Pages of older messages that are read on the way to one. */
const maximumPages = 40;

/** Scrolls to a message and gives it the focus; false when it is not in this branch. */
async function showMessage(store: ConversationStore, id: string): Promise<boolean> {
  for (let page = 0; page <= maximumPages; page += 1) {
    await nextPaint();
    const element = document.querySelector<HTMLElement>(`[data-message="${CSS.escape(id)}"]`);
    if (element) {
      revealElement(element, 'start');
      element.tabIndex = -1;
      element.focus({ preventScroll: true });
      return true;
    }
    if (store.getView().nextBefore === null) return false;
    await store.loadOlder();
  }
  return false;
}
