import 'virtual:texts/mcp';
import type { DynamicToolPart } from '@homeport/contracts/chat/frames';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ShieldQuestion } from 'lucide-react';
import { useId, useState } from 'react';
import { call } from '../../api/api.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { useThreadActions } from '../../conversation/thread-actions.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { mcpServersQuery } from '../mcp-api.ts';
import { findTool, titleOfTool } from '../tools/find-tool.ts';
import { toolTitle } from '../tools/tool-title.ts';
import classes from './approval.module.css';
import { ApprovalAnswer, type ApprovalWord } from './approval-answer.tsx';
import { ApprovalInput } from './approval-input.tsx';

type State = { kind: 'open' } | { kind: 'sending' } | ({ kind: 'answered' } & ApprovalWord) | { kind: 'elsewhere' };

/** Tool call that waits for approval, with buttons to allow or deny it. */
export function ToolApproval({ part, isLive }: { part: DynamicToolPart; isLive: boolean }) {
  const t = useText();
  const queries = useQueryClient();
  const { chatId, follow } = useThreadActions();
  const [state, setState] = useState<State>({ kind: 'open' });
  const [failure, setFailure] = useState<unknown>();
  const titleId = useId();
  const { server, tool } = toolTitle(part.toolName);
  const { data } = useQuery({ ...mcpServersQuery(), enabled: server !== undefined });
  const title = data && titleOfTool(data.servers, part.toolName);
  const approvalId = part.approval?.id;

  const allowForGood = async () => {
    const { servers } = await queries.fetchQuery(mcpServersQuery());
    const found = findTool(servers, part.toolName);
    if (!found) return;
    const { id, toolPolicies } = found.server;
    await call('PATCH /api/mcp', { body: { id, toolPolicies: { ...toolPolicies, [found.tool]: 'allow' } } });
    void queries.invalidateQueries({ queryKey: mcpServersQuery().queryKey });
  };
  const answer = async (word: ApprovalWord) => {
    if (approvalId === undefined) return;
    setState({ kind: 'sending' });
    setFailure(undefined);
    try {
      const { approved, reason = '', remember } = word;
      if (remember === 'always' && server !== undefined) await allowForGood();
      const kept = remember === 'always' ? (server === undefined ? ('person' as const) : undefined) : remember;
      const body = {
        approvalId,
        approved,
        ...(reason === '' ? {} : { reason }),
        ...(kept === undefined ? {} : { remember: kept }),
      };
      await call('POST /api/chat/:chatId/approvals', { params: { chatId }, body });
      setState({ kind: 'answered', ...word });
    } catch (error) {
      const code = error instanceof ApiFailure ? error.code : undefined;
      if (code === 'input_applied' || code === 'not_found') setState({ kind: 'elsewhere' });
      else {
        setFailure(error);
        setState({ kind: 'open' });
      }
    }
    follow();
  };

  return (
    <section className={classes.card} aria-labelledby={titleId} data-approval={approvalId}>
      <h3 className={classes.title} id={titleId}>
        <ShieldQuestion size={17} aria-hidden />
        <span>
          {server === undefined
            ? t('approval.title', { tool })
            : title === undefined
              ? t('approval.titleOf', { tool, server })
              : t('approval.titleNamed', { title, server })}
          {title === undefined ? null : <code className={classes.technical}> {tool}</code>}
        </span>
      </h3>
      <ApprovalInput value={part.input} />
      {failure === undefined ? null : (
        <p role="alert" className={classes.failure}>
          {failureText(failure, t)}
        </p>
      )}
      <div className={classes.foot}>
        {!isLive ? (
          <p className={classes.outcome}>{t('approval.ended')}</p>
        ) : state.kind === 'open' ? (
          <ApprovalAnswer
            toolName={part.toolName}
            canRemember={canRemember(part)}
            onAnswer={(word) => void answer(word)}
          />
        ) : (
          <p role="status" className={classes.outcome}>
            {outcome(state, t)}
          </p>
        )}
      </div>
    </section>
  );
}

/** For the shell, only a command can be allowed permanently, not a poll of a process. */
function canRemember({ toolName, input }: DynamicToolPart): boolean {
  const isObject = typeof input === 'object' && input !== null;
  return toolName !== 'bash' || (isObject && 'command' in input && !('processId' in input));
}

function outcome(state: Exclude<State, { kind: 'open' }>, t: ReturnType<typeof useText>): string {
  if (state.kind === 'sending') return t('approval.sending');
  if (state.kind === 'elsewhere') return t('approval.elsewhere');
  const { approved, reason = '', remember } = state;
  if (!approved) return reason === '' ? t('approval.denied') : t('approval.deniedBecause', { reason });
  if (remember === undefined) return t('approval.allowed');
  return t(remember === 'always' ? 'approval.allowedEverywhere' : 'approval.allowedInConversation');
}
