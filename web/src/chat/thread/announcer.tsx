import 'virtual:texts/conversation';
import type { Message } from '@homeport/contracts/chat/conversations';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { ConversationView } from '../../conversation/conversation-view.ts';
import { useText } from '../../i18n/i18n.ts';
import { mcpServersQuery } from '../../mcp/mcp-api.ts';
import { titleOfTool } from '../../mcp/tools/find-tool.ts';
import { toolTitle } from '../../mcp/tools/tool-title.ts';
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
  const waitingName = useToolName(waiting);
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
    if (waitingName !== undefined) setText(t('thread.announceApproval', { tool: waitingName }));
  }, [waitingName, t]);
  useEffect(() => {
    if (isAsked) setText(t('thread.announceQuestion'));
  }, [isAsked, t]);
  return (
    <div role="status" aria-live="polite" className="visually-hidden">
      {text}
    </div>
  );
}

/** A tool as people know it: its title, or its own name. Undefined until it is known. */
function useToolName(name: string | undefined): string | undefined {
  const parts = toolTitle(name ?? '');
  const isOfServer = parts.server !== undefined;
  const { data, isPending } = useQuery({ ...mcpServersQuery(), enabled: isOfServer });
  if (name === undefined || (isOfServer && isPending)) return undefined;
  const tool = (data && titleOfTool(data.servers, name)) ?? parts.tool;
  return isOfServer ? `${parts.server}: ${tool}` : tool;
}

/** The tool that waits for a person's word. */
function waitingTool(message: Message | undefined): string | undefined {
  const part = message?.parts.findLast((each) => each.type === 'dynamic-tool' && each.state === 'approval-requested');
  return part?.type === 'dynamic-tool' ? part.toolName : undefined;
}
