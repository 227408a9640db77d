import type { Question } from '@homeport/contracts/chat/agent';
import type { Frame } from '@homeport/contracts/chat/frames';
import type { ToolPolicy } from '@homeport/contracts/mcp/mcp';
import type { Semaphore } from '../../platform/concurrency/semaphore.ts';
import { answered } from './ask-tool.ts';
import type { ReadOnlyRun, Verdict } from './rules/rule-judge.ts';
import {
  runTool,
  stoppedToolText,
  type Tool,
  type ToolBounds,
  ToolFailure,
  type ToolListener,
  type ToolResult,
} from './tool-run.ts';

/**
 * Runs one accepted call to its result: by its tool's policy (contract.md section 7), the person's decision, and the
 * tool.
 */

/**
 * A person's decision on one call. `lost`: it was already applied, or the question does not exist. `parked`: the
 * response is interrupted, and continues when the decision arrives.
 */
export type CallDecision = { approved: boolean; reason: string | undefined; answers?: string[][] } | 'lost' | 'parked';

/** A call that needs the person: approval or, with `questions`, answers. */
export type QuestionedCall = {
  toolCallId: string;
  toolName: string;
  input: Record<string, unknown>;
  questions?: Question[];
  /** The call runs already, and the question ends with it. */
  isLive?: boolean;
};

/** Reason of a decision that declines the question of an MCP server. */
export const declined = 'declined';

export type Approvals = {
  /** Stores the question and gives it its id. Its errors end the turn. */
  request(call: QuestionedCall): Promise<string>;
  /** Waits for the decision, which is applied only once. Rejects when the signal aborts. */
  wait(approvalId: string, signal: AbortSignal): Promise<CallDecision>;
  /** Closes a question whose decision is no longer needed. */
  drop(approvalId: string): Promise<void>;
};

export type RunOptions = {
  emit: (frame: Frame) => void;
  approvals?: Approvals;
  onToolFailure?: (toolName: string, error: unknown) => void;
};

export type AcceptedCall = { id: string; name: string; tool: Tool; input: Record<string, unknown> };

/** Outcome of the checks between a call and its tool. */
export type Asked =
  | { policy: Exclude<ToolPolicy, 'ask'>; why?: string; readOnly?: ReadOnlyRun }
  | { policy: 'ask'; approvalId: string; readOnly?: ReadOnlyRun }
  | { policy: 'question'; approvalId: string; questions: Question[] };

export type RunBounds = { bounds: ToolBounds; slots: Semaphore; signal: AbortSignal };

const nobodyToAsk =
  'This call needs approval, and the person cannot be asked here. Skip it and mention that in your answer.';
export const deniedByPolicy = 'The owner does not allow this tool.';

/** Looks the policies of these calls up, and puts the questions to the person, before any of them runs. */
export async function askFor(
  options: RunOptions,
  calls: readonly { id: string; name: string; tool?: Tool; accepted?: Record<string, unknown> }[],
  signal: AbortSignal,
): Promise<Map<string, Asked>> {
  const asked = new Map<string, Asked>();
  for (const { id, name, tool, accepted: input = {} } of calls) {
    if (tool === undefined || signal.aborted) continue;
    if (tool.questionsOf !== undefined) {
      asked.set(id, await askQuestions(options, { toolCallId: id, toolName: name, input }, tool.questionsOf));
      continue;
    }
    const { policy, ...verdict } = await verdictOn(tool, input);
    if (policy !== 'ask') asked.set(id, { policy, ...verdict });
    else if (options.approvals === undefined) asked.set(id, { policy: 'deny', why: nobodyToAsk });
    else {
      const approvalId = await options.approvals.request({ toolCallId: id, toolName: name, input });
      options.emit({ type: 'tool-approval-request', approvalId, toolCallId: id });
      const { readOnly } = verdict;
      asked.set(id, { policy, approvalId, ...(readOnly === undefined ? {} : { readOnly }) });
    }
  }
  return asked;
}

async function askQuestions(
  options: RunOptions,
  call: QuestionedCall,
  questionsOf: NonNullable<Tool['questionsOf']>,
): Promise<Asked> {
  let questions: Question[];
  try {
    questions = questionsOf(call.input);
  } catch (error) {
    if (error instanceof ToolFailure) return { policy: 'deny', why: error.message };
    throw error;
  }
  if (options.approvals === undefined) return { policy: 'deny', why: 'Questions cannot be asked here.' };
  const approvalId = await options.approvals.request({ ...call, questions });
  const { toolCallId } = call;
  options.emit({ type: 'data-question', data: { questionId: approvalId, toolCallId, questions } });
  return { policy: 'question', approvalId, questions };
}

/** Decides a call by the present rules and policy. */
export async function verdictOn(tool: Tool, input: Record<string, unknown>): Promise<Verdict> {
  return (await tool.judge?.(input)) ?? { policy: (await tool.readPolicy?.()) ?? 'allow' };
}

/** Runs a call to its result; failures become an error text. Undefined if it keeps waiting, for a later response. */
export async function runCall(
  options: RunOptions,
  call: AcceptedCall,
  asked: Asked | undefined,
  { bounds, slots, signal }: RunBounds,
): Promise<ToolResult | undefined> {
  if (asked === undefined) return { errorText: stoppedToolText };
  if (asked.policy === 'deny') return { errorText: asked.why ?? deniedByPolicy };
  if (asked.policy === 'question') {
    const decision = await awaitAnswer(options, asked.approvalId, signal);
    if (decision === 'parked') return undefined;
    return 'approved' in decision ? { output: answered(asked.questions, decision.answers) } : decision;
  }
  if (asked.policy === 'ask') {
    const refusal = await awaitDecision(options, asked.approvalId, signal);
    if (refusal === 'parked') return undefined;
    if (refusal !== undefined) return refusal;
  }
  const listener: ToolListener = {
    onFailure: options.onToolFailure ?? (() => undefined),
    ask: askWhileRunning(options, call),
    onReport: (output) =>
      options.emit({ type: 'tool-output-available', toolCallId: call.id, output, dynamic: true, preliminary: true }),
  };
  const tool = asked.readOnly === undefined ? call.tool : withRun(call.tool, asked.readOnly);
  return slots.run(() => runTool(tool, call.input, call.id, bounds, signal, listener));
}

function withRun(tool: Tool, readOnly: ReadOnlyRun): Tool {
  return { ...tool, execute: (input, context) => tool.execute(input, { ...context, readOnly }) };
}

/** Puts a running tool's questions to the person and waits for the answer, as long as `signal` lets it. */
function askWhileRunning(options: RunOptions, call: AcceptedCall): ToolListener['ask'] {
  const { approvals } = options;
  if (approvals === undefined) return undefined;
  return async ({ questions, ...from }, signal) => {
    const { id: toolCallId, name: toolName, input } = call;
    const questionId = await approvals.request({ toolCallId, toolName, input, questions, isLive: true });
    const asked = { questionId, toolCallId, questions, from };
    options.emit({ type: 'data-question', data: asked });
    const decision = await approvals.wait(questionId, signal).catch(() => 'lost' as const);
    const answer = typeof decision === 'string' ? undefined : decision;
    if (answer === undefined) await approvals.drop(questionId).catch(() => undefined);
    const outcome = answer?.approved === true ? 'accept' : answer?.reason === declined ? 'decline' : 'cancel';
    const reply = outcome === 'accept' ? { answers: answer?.answers ?? [] } : {};
    options.emit({ type: 'data-question', data: { ...asked, outcome, ...reply } });
    return outcome === 'accept' ? { action: outcome, answers: answer?.answers ?? [] } : { action: outcome };
  };
}

/** Waits for the decision. Returns an error text if there is none. */
async function awaitAnswer(
  options: RunOptions,
  approvalId: string,
  signal: AbortSignal,
): Promise<Exclude<CallDecision, 'lost'> | { errorText: string }> {
  let decision: CallDecision;
  try {
    decision = (await options.approvals?.wait(approvalId, signal)) ?? 'lost';
  } catch (error) {
    if (signal.aborted) return { errorText: stoppedToolText };
    throw error;
  }
  return decision === 'lost' ? { errorText: 'Interrupted before the tool returned a result.' } : decision;
}

/** Waits for the decision and emits it in the stream. Returns the reason not to run the tool, if any. */
async function awaitDecision(
  options: RunOptions,
  approvalId: string,
  signal: AbortSignal,
): Promise<ToolResult | 'parked' | undefined> {
  const decision = await awaitAnswer(options, approvalId, signal);
  if (decision === 'parked' || !('approved' in decision)) return decision;
  const { approved, reason } = decision;
  options.emit({
    type: 'tool-approval-response',
    approvalId,
    approved,
    ...(reason === undefined ? {} : { reason }),
  });
  return approved ? undefined : { denied: true, reason };
}
