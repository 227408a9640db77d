import type { Message } from '@homeport/contracts/chat/conversations';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import { questionsIn } from '@homeport/contracts/chat/message-assembly';
import { memo, type ReactNode, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { usedWritingTools } from '../../conversation/choices/writing-tools.ts';
import { messageText } from '../../conversation/message-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../layout/lazy-component.tsx';
import { SourceLinks } from '../../markdown/links/source-links.ts';
import { MessageEditor } from '../lazy-parts.ts';
import { groupKey, groupParts, type PartGroup } from '../parts/part-groups.ts';
import { FileView, PartView, StepsView } from '../parts/part-view.tsx';
import { hasRegenerate } from './answer-ending.ts';
import { AnswerStatus } from './answer-status.tsx';
import { MessageActions } from './message-actions.tsx';
import classes from './message-view.module.css';
import { callOf, isOpenQuestion } from './pending-parts.ts';

const SourceList = lazyComponent(async () => (await import('../parts/source-list.tsx')).SourceList);
const ChangesLine = lazyComponent(async () => (await import('../../workspace/changes/changes-line.tsx')).ChangesLine);
const QuestionCard = lazyComponent(async () => (await import('../../agent/question-card.tsx')).QuestionCard);

type Props = { message: Message; isLast: boolean; isRunning: boolean };

/** One message of the thread. Memoised: a streamed answer renders only itself. */
export const MessageView = memo(function MessageView({ message, isLast, isRunning }: Props) {
  return message.role === 'user' ? (
    <UserMessage message={message} isRunning={isRunning} />
  ) : (
    <Answer message={message} isLast={isLast} isRunning={isRunning} />
  );
});

function UserMessage({ message, isRunning }: { message: Message; isRunning: boolean }) {
  const t = useText();
  const [isEditing, setEditing] = useState(false);
  const text = messageText(message.parts);
  const files = message.parts.filter((part) => part.type === 'file');
  const article = useRef<HTMLElement>(null);
  const composer = useRef<HTMLElement>(null);
  const edit = () => {
    const { activeElement } = document;
    composer.current =
      activeElement instanceof HTMLElement && activeElement.matches('[data-composer]') ? activeElement : null;
    setEditing(true);
  };
  // Back to where the edit was begun: the message field, or the button.
  const close = () => {
    flushSync(() => setEditing(false));
    const button = article.current?.querySelector<HTMLElement>('[data-action="edit"]');
    (composer.current ?? button)?.focus();
  };
  return (
    <article ref={article} className={classes.user} data-message={message.id} data-role="user">
      <h2 className="visually-hidden">{t('thread.yourMessage')}</h2>
      {files.length > 0 ? (
        <div className={classes.files}>
          {files.map((part, index) => (
            <FileView key={index} part={part} />
          ))}
        </div>
      ) : null}
      {isEditing ? (
        <MessageEditor message={message} text={text} isRunning={isRunning} onClose={close} />
      ) : (
        <>
          {text === '' ? null : (
            <div className={classes.bubble} data-part="text" dir="auto">
              {text}
            </div>
          )}
          <MessageActions message={message} text={text} isRunning={isRunning} onEdit={edit} />
        </>
      )}
    </article>
  );
}

function Answer({ message, isLast, isRunning }: Props) {
  const t = useText();
  const isStreaming = message.status === 'streaming';
  const isEmpty = !message.parts.some(isVisible);
  const [links, setLinks] = useState<(text: string) => ReactNode>();
  return (
    <article className={classes.answer} data-message={message.id} data-role="assistant" aria-busy={isStreaming}>
      <h2 className="visually-hidden">{t('thread.answer')}</h2>
      <div className={classes.parts}>
        <SourceLinks value={links}>
          {groupParts(message.parts).map((group) => (
            <Group key={groupKey(group)} message={message} group={group} isLast={isLast} />
          ))}
        </SourceLinks>
        {isStreaming && isEmpty ? <Waiting /> : null}
        {message.parts.some(isSource) ? <SourceList message={message} onLinks={setLinks} /> : null}
      </div>
      {!isStreaming && usedWritingTools(message) ? <ChangesLine message={message} /> : null}
      {isLast && isWaiting(message) ? null : (
        <AnswerStatus message={message} isLast={isLast} isRunning={isRunning} isEmpty={isEmpty} />
      )}
      {isStreaming ? (
        <div className={classes.reserved} />
      ) : (
        <MessageActions
          message={message}
          text={messageText(message.parts)}
          isRunning={isRunning}
          isLast={isLast}
          hasRegenerate={isLast && hasRegenerate(message, isEmpty)}
        />
      )}
    </article>
  );
}

/** An answer that was interrupted while it waited for the person still accepts the decision, and then continues. */
function isWaiting({ status, parts }: Message): boolean {
  return (
    status === 'interrupted' &&
    parts.some(
      (part, index) =>
        isOpenQuestion(part, index, parts) || (part.type === 'dynamic-tool' && part.state === 'approval-requested'),
    )
  );
}

function Group({ message, group, isLast }: { message: Message; group: PartGroup; isLast: boolean }) {
  const isLive = message.status === 'streaming' || (isLast && isWaiting(message));
  if (group.kind === 'part') {
    const part = message.parts[group.index];
    const asked = part && questionsIn(part);
    if (asked) return <QuestionCard asked={asked} part={callOf(message.parts, asked.toolCallId)} isLive={isLive} />;
    return part ? <PartView part={part} isLive={isLive} name={`${message.id}.${group.index}`} /> : null;
  }
  const parts = group.indexes.flatMap((index) => message.parts[index] ?? []);
  return <StepsView parts={parts} isLive={isLive} name={`${message.id}.${group.indexes[0]}`} />;
}

/** Shown until the first words of an answer arrive. */
export function Waiting() {
  const t = useText();
  return (
    <p className={classes.waiting}>
      <span className={classes.shimmer}>{t('thread.thinking')}</span>
    </p>
  );
}

function isSource({ type, toolName = type }: { type: string; toolName?: string }): boolean {
  return /^(source-|read_page|web_search)/.test(toolName);
}

function isVisible(part: MessagePart): boolean {
  if (part.type === 'text' || part.type === 'reasoning') return part.text.trim() !== '';
  // A notice of the service is no answer.
  if (part.type.startsWith('source-')) return false;
  return (
    part.type !== 'step-start' &&
    part.type !== 'data-next' &&
    part.type !== 'data-notice' &&
    part.type !== 'data-served-by'
  );
}
