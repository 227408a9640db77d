import type { DynamicToolPart, MessagePart } from '@homeport/contracts/chat/frames';
import { questionsIn } from '@homeport/contracts/chat/message-assembly';
import { Semaphore } from '../../platform/concurrency/semaphore.ts';
import { isRecord } from '../model/stream/storable-text.ts';
import { type Asked, deniedByPolicy, type RunOptions, runCall, verdictOn } from '../tools/call-run.ts';
import { type Tool, ToolFailure, type ToolResult } from '../tools/tool-run.ts';
import { emitResult } from './step-writer.ts';
import { turnBounds } from './turn-loop.ts';

/**
 * Calls that waited for a person when their response was interrupted, and come to their end in the response that
 * continues it.
 */

export type WaitingCall = DynamicToolPart & { asked: Extract<Asked, { approvalId: string }> };

/** Returns the calls among these parts that wait for a decision, or for answers to their questions. */
export function waitingCalls(parts: readonly MessagePart[]): WaitingCall[] {
  const asked = parts.flatMap((part) => questionsIn(part) ?? []).filter(({ from }) => from === undefined);
  const questions = new Map(asked.map((each) => [each.toolCallId, each]));
  return parts.flatMap((part): WaitingCall[] => {
    if (part.type !== 'dynamic-tool') return [];
    if (part.state === 'approval-requested' && part.approval !== undefined) {
      return [{ ...part, asked: { policy: 'ask', approvalId: part.approval.id } }];
    }
    const asked = part.state === 'input-available' ? questions.get(part.toolCallId) : undefined;
    if (asked === undefined) return [];
    return [{ ...part, asked: { policy: 'question', approvalId: asked.questionId, questions: asked.questions } }];
  });
}

/** Waits for the decision on each call, applies it and emits the results. Calls that keep waiting stay as they are. */
export async function finishWaitingCalls(
  options: RunOptions,
  calls: readonly WaitingCall[],
  tools: readonly Tool[],
  signal: AbortSignal,
): Promise<void> {
  const run = { bounds: turnBounds, slots: new Semaphore(turnBounds.maxParallelTools), signal };
  await Promise.all(
    calls.map(async (call) => {
      const tool = tools.find(({ name }) => name === call.toolName) ?? missing(call);
      const input = isRecord(call.input) ? call.input : {};
      const { policy, why = deniedByPolicy, readOnly } = await verdictOn(tool, input);
      const isReadOnly = policy === 'ask' && readOnly !== undefined && call.asked.policy === 'ask';
      const asked = isReadOnly ? { ...call.asked, readOnly } : call.asked;
      if (policy === 'deny') await options.approvals?.drop(call.asked.approvalId);
      const result: ToolResult | undefined =
        policy === 'deny'
          ? { errorText: why }
          : await runCall(options, { id: call.toolCallId, name: call.toolName, tool, input }, asked, run);
      if (result !== undefined) emitResult(options.emit, call.toolCallId, result);
    }),
  );
  options.emit({ type: 'finish-step' });
}

/** Stand-in for a tool that no longer exists: the decision is still processed. */
function missing(call: WaitingCall): Tool {
  return {
    name: call.toolName,
    description: '',
    inputSchema: {},
    execute: () => Promise.reject(new ToolFailure('This tool is no longer available.')),
  };
}
