import 'virtual:texts/conversation';
import type { Message } from '@homeport/contracts/chat/conversations';
import { useEffect, useRef, useState } from 'react';
import type { ConversationView } from '../../conversation/conversation-view.ts';
import { useText } from '../../i18n/i18n.ts';
import { isOpenQuestion } from './pending-parts.ts';

/** Live region that announces the beginning and the end of an answer. The thread itself is not a live region. */
export function Announcer({ view }: { view: ConversationView }) {
  const t = useText();
  const [text, setText] = useState('');
  const running = view.response?.assistantId;
  const isSummary = view.response?.kind === 'compaction';
  const before = useRef(running);
  const wasSummary = useRef(isSummary);
  const { messages, summaryFailure } = view;
  const waiting = running === undefined ? undefined : waitingTool(messages.at(-1));
  const question = running === undefined ? undefined : messages.at(-1)?.parts.findLast(isOpenQuestion);
  const isAsked = question !== undefined;
  useEffect(() => {
    const ended = before.current;
    before.current = running;
    const endedSummary = wasSummary.current;
    wasSummary.current = isSummary;
    if (running !== undefined && running !== ended)
      setText(t(isSummary ? 'thread.summarizing' : 'thread.announceStart'));
    if (running !== undefined || ended === undefined) return;
    if (endedSummary) {
      setText(t(summaryFailure === undefined ? 'thread.summarized' : 'thread.summaryFailed'));
      return;
    }
    const status = messages.find((message) => message.id === ended)?.status;
    if (status === 'failed') setText(t('thread.announceFailed'));
    else setText(t(status === 'stopped' ? 'thread.announceStopped' : 'thread.announceEnd'));
  }, [running, isSummary, messages, summaryFailure, t]);
  useEffect(() => {
    if (waiting !== undefined) setText(t('thread.announceApproval', { tool: waiting }));
  }, [waiting, t]);
  useEffect(() => {
    if (isAsked) setText(t('thread.announceQuestion'));
  }, [isAsked, t]);
  return (
    <div role="status" aria-live="polite" className="visually-hidden">
      {text}
    </div>
  );
}

/** The tool that waits for a person's word. */
function waitingTool(message: Message | undefined): string | undefined {
  const part = message?.parts.findLast((each) => each.type === 'dynamic-tool' && each.state === 'approval-requested');
  return part?.type === 'dynamic-tool' ? part.toolName : undefined;
}
