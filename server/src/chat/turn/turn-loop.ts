import type { FinishReason, Frame, Usage } from '@homeport/contracts/chat/frames';
import { brokenOffToolText } from '@homeport/contracts/chat/message-assembly';
import { defaultTurnBudget } from '@homeport/contracts/chat/turn-budget-default';
import { ApiError } from '@homeport/contracts/errors';
import { systemClock } from '../../platform/clock.ts';
import { Semaphore } from '../../platform/concurrency/semaphore.ts';
import { providerFailure } from '../model/failures/provider-errors.ts';
import type { CompletionResult, CompletionSink, StepState, ToolDefinition } from '../model/protocol.ts';
import { type ChatMessage, type StepCall, stepMessages } from '../model/provider-messages.ts';
import { storableText } from '../model/stream/storable-text.ts';
import type { ToolCall } from '../model/stream/tool-call-assembly.ts';
import { addUsage } from '../model/usage.ts';
import { findTool, isOffered, readArguments } from '../tools/call-repair.ts';
import { type Approvals, askFor, runCall } from '../tools/call-run.ts';
import { stoppedToolText, type Tool, type ToolBounds } from '../tools/tool-run.ts';
import { type AnswerEnd, endOf, plainEnd } from './answer-end.ts';
import { AnswerExtras, type StorePicture } from './answer-extras.ts';
import { Spending } from './spending.ts';
import { type ContinuedText, createStepWriter, type StepWriter } from './step-writer.ts';

/** Asks the model once: streams into `sink`, resolves when the answer is complete, rejects as a `ModelClient` does. */
export type AskModel = (
  request: { messages: ChatMessage[]; tools: ToolDefinition[] },
  sink: CompletionSink,
  signal: AbortSignal,
) => Promise<CompletionResult>;

/** Sent after a call that the server could not read. */
const repeatCall: ChatMessage = {
  role: 'user',
  content: '[System note: your last tool call could not be read and was not run. If you need it, call the tool again.]',
};

export type TurnBounds = ToolBounds & { maxParallelTools: number };

export const turnBounds: TurnBounds = {
  maxParallelTools: 8,
  toolTimeoutMs: 10 * 60_000,
  maxToolOutputBytes: 256 * 1024,
};

export type TurnOptions = {
  askModel: AskModel;
  /** The conversation so far, ending with what is to be answered. */
  messages: ChatMessage[];
  tools: Tool[];
  emit: (frame: Frame) => void;
  createId: () => string;
  /** Asked after the results of a step: true ends the turn there, because a message of the person comes next. */
  isSteered?: (() => Promise<boolean>) | undefined;
  /**
   * Awaited before tools run and, with `isBeforeAsking`, after their results are emitted. Its errors end the turn as a
   * rejection.
   */
  onCheckpoint?: (isBeforeAsking: boolean) => Promise<void>;
  /**
   * Makes the messages fit before each question, as they grow with every tool result; `counted`: input tokens of the
   * one before.
   */
  fitMessages?: (messages: ChatMessage[], counted: number | undefined) => ChatMessage[];
  /**
   * Stores what the model wants back of a step with tools, with the id of the step's first call. Awaited before the
   * calls count as asked for, so that no call is continued without it.
   */
  onStepState?: ((callId: string, stepState: StepState) => Promise<void>) | undefined;
  /** Text of a continued answer that the first step extends. */
  continued?: ContinuedText | undefined;
  onToolFailure?: (toolName: string, error: unknown) => void;
  /** Without it, pictures that the model makes are left out. */
  storePicture?: StorePicture;
  /** How a person is asked about calls of tools whose policy is `ask`; without it they are refused. */
  approvals?: Approvals;
  /** How much it may do; without it as much as by default. */
  spending?: Spending;
  bounds?: Partial<TurnBounds>;
};

export type TurnResult = {
  outcome: 'complete' | 'failed' | 'aborted';
  finishReason: FinishReason;
  end: AnswerEnd;
  /** Sum over all steps; undefined when the provider reported none. */
  usage: Usage | undefined;
  /** Input tokens of the first step: the provider's count of the given messages. */
  promptTokens: number | undefined;
  /** Input and output of the last step. */
  contextTokens: number | undefined;
  error: ApiError | undefined;
  steps: number;
};

type TurnState = Pick<TurnResult, 'usage' | 'promptTokens' | 'contextTokens' | 'steps'>;

/**
 * Answers one input: asks the model, runs the tools it requests, and repeats until it requests none. Emits the frames
 * of every step (not `start`, `error`, `abort` and `finish`, which are the caller's) and closes open parts when the
 * turn is cut. Failures of the model are a result. Emits nothing if the first request fails before its first token.
 */
export async function runTurn(given: TurnOptions, signal: AbortSignal): Promise<TurnResult> {
  const bounds = { ...turnBounds, ...given.bounds };
  const { spending = new Spending(defaultTurnBudget, systemClock.elapsed) } = given;
  const options = withPausesExcluded(given, spending);
  const state: TurnState = { usage: undefined, promptTokens: undefined, contextTokens: undefined, steps: 0 };
  // A continued answer has calls already.
  const usedIds = new Set(options.messages.flatMap(callIds));
  const extras = new AnswerExtras(options.emit, options.storePicture);
  let messages = options.messages;
  let counted: number | undefined;
  let hasFailedCall = false;
  while (spending.isOut === undefined) {
    const { note } = spending;
    if (note !== undefined) messages = [...messages, { role: 'user', content: note }];
    const continued = state.steps === 0 ? options.continued : undefined;
    const writer = createStepWriter(options.emit, options.createId, usedIds, extras, continued);
    messages = options.fitMessages?.(messages, counted) ?? messages;
    const answer = await askOnce(options, messages, writer, signal);
    await extras.stored();
    if (answer instanceof ApiError || signal.aborted) {
      writer.cut(brokenOffToolText);
      return ended(state, signal.aborted ? 'aborted' : 'failed', answer);
    }
    state.steps++;
    spending.addStep();
    spending.addTokens(answer.usage);
    countUsage(state, answer.usage);
    counted = answer.usage?.inputTokens;
    if (answer.toolCalls.length === 0) {
      if (answer.isMalformed === true && !hasFailedCall) {
        hasFailedCall = true;
        writer.finishBegun();
        messages = [...messages, ...stepMessages({ ...writer.written, calls: [] }, true), repeatCall];
        continue;
      }
      if (answer.isMalformed === true) {
        writer.finishBegun();
        return {
          ...ended(state, 'failed', unreadableCall()),
          end: { reason: 'error', detail: answer.finishDetail ?? null },
        };
      }
      writer.finish();
      return { ...complete(state, answer.finishReason), end: endOf(answer, withEarlier(writer.written, continued)) };
    }
    await orCut(writer, () => storeStepState(options, writer, answer));
    const calls = await callTools(options, bounds, writer, answer, signal);
    writer.finish();
    // A call that goes on waiting is answered in the response that continues this one.
    if (signal.aborted || calls.some(({ isParked }) => isParked)) return ended(state, 'aborted');
    if (answer.finishReason === 'content-filter')
      return { ...complete(state, 'content-filter'), end: endOf(answer, writer.written) };
    if ((await options.isSteered?.()) === true) return complete(state, 'tool-calls');
    messages = [...messages, ...stepMessages({ ...writer.written, calls, stepState: answer.stepState }, true)];
  }
  const message = `This turn has reached its limit of ${spending.isOut}. Continue to give it another turn.`;
  options.emit({ type: 'data-notice', data: { code: 'turn_budget', message } });
  return complete(state, 'tool-calls');
}

/** A continued answer has the text from before. */
function withEarlier(written: StepWriter['written'], continued: ContinuedText | undefined): StepWriter['written'] {
  return { ...written, text: `${continued?.text ?? ''}${written.text}` };
}

function callIds(message: ChatMessage): string[] {
  return message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : [];
}

/** Excludes the time that a person takes for a decision from the turn's time. */
function withPausesExcluded(options: TurnOptions, spending: Spending): TurnOptions {
  const { approvals } = options;
  if (approvals === undefined) return options;
  const wait: Approvals['wait'] = (approvalId, signal) => spending.whileWaiting(approvals.wait(approvalId, signal));
  return { ...options, approvals: { ...approvals, wait } };
}

async function storeStepState(
  options: TurnOptions,
  writer: StepWriter,
  { toolCalls, stepState }: CompletionResult,
): Promise<void> {
  const [first] = toolCalls;
  if (first !== undefined && stepState !== undefined) await options.onStepState?.(writer.idOf(first.id), stepState);
}

async function askOnce(
  options: TurnOptions,
  messages: ChatMessage[],
  writer: StepWriter,
  signal: AbortSignal,
): Promise<CompletionResult | ApiError> {
  if (signal.aborted) return stopped();
  try {
    const tools = offered(options.tools).map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }));
    return await options.askModel({ messages, tools }, withKnownNames(options.tools, writer.sink), signal);
  } catch (error) {
    if (signal.aborted) return stopped();
    return error instanceof ApiError ? error : new ApiError('internal_error', 'The answer failed.', { cause: error });
  }
}

/** Shows a call under the name of its tool, however the model writes it. */
function withKnownNames(tools: readonly Tool[], sink: CompletionSink): CompletionSink {
  return {
    ...sink,
    toolStart: ({ id, name }) => sink.toolStart({ id, name: findTool(tools, name)?.name ?? name }),
  };
}

function unreadableCall(): ApiError {
  return providerFailure({ reason: 'other', values: { problem: 'malformed_call' } });
}

function stopped(): ApiError {
  return new ApiError('internal_error', 'Stopped.');
}

type CallToRun = StepCall & { tool?: Tool; accepted?: Record<string, unknown>; isParked?: boolean };

async function callTools(
  options: TurnOptions,
  bounds: TurnBounds,
  writer: StepWriter,
  answer: CompletionResult,
  signal: AbortSignal,
): Promise<CallToRun[]> {
  writer.closePart();
  const cutCall = answer.finishReason === 'length' ? answer.toolCalls.at(-1) : undefined;
  const calls = answer.toolCalls.map((call): CallToRun => {
    const id = writer.idOf(call.id);
    const read =
      answer.finishReason === 'content-filter'
        ? refusal('The answer was cut by a content filter.')
        : readCall(options.tools, call, call === cutCall);
    if ('errorText' in read) {
      const name = findTool(options.tools, call.name)?.name ?? call.name;
      writer.refuseInput(id, name, read.input, read.errorText);
      return { id, name, input: read.input, result: { errorText: read.errorText } };
    }
    const { name } = read.tool;
    writer.acceptInput(id, name, read.input);
    return {
      id,
      name,
      input: read.input,
      result: { errorText: stoppedToolText },
      tool: read.tool,
      accepted: read.input,
    };
  });
  const asked = await orCut(writer, () => askFor(options, calls, signal));
  await checkpoint(options, writer, false);
  const slots = new Semaphore(bounds.maxParallelTools);
  await Promise.all(
    calls.map(async (call) => {
      if (call.tool === undefined || call.accepted === undefined) return;
      const { tool, accepted: input } = call;
      const result = await runCall(options, { ...call, tool, input }, asked.get(call.id), { bounds, slots, signal });
      if (result === undefined) {
        call.isParked = true;
        return;
      }
      call.result = result;
      writer.setResult(call.id, result);
    }),
  );
  await checkpoint(options, writer, true);
  return calls;
}

/** A turn that may not go on still leaves no open parts behind. */
async function checkpoint(options: TurnOptions, writer: StepWriter, isBeforeAsking: boolean): Promise<void> {
  await orCut(writer, async () => options.onCheckpoint?.(isBeforeAsking));
}

async function orCut<T>(writer: StepWriter, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    writer.cut(stoppedToolText);
    throw error;
  }
}

type ReadCall = { tool: Tool; input: Record<string, unknown> } | { input: unknown; errorText: string };

function readCall(tools: Tool[], call: ToolCall, isCut: boolean): ReadCall {
  const raw = storableText(call.arguments);
  const tool = findTool(tools, call.name);
  const input = readArguments(call.arguments, tool?.inputSchema ?? {});
  if (isCut)
    return {
      input: input ?? raw,
      errorText: 'The tool call was cut off because the answer reached its maximum length.',
    };
  if (input === undefined) return { input: raw, errorText: 'The arguments are not a valid JSON object.' };
  if (tool !== undefined) return { tool, input };
  const names = offered(tools)
    .map((candidate) => candidate.name)
    .join(', ');
  return { input, errorText: `There is no tool with this name. Available: ${names === '' ? 'none' : names}.` };
}

/** Filters the tools that the model receives. */
export function offered(tools: readonly Tool[]): Tool[] {
  return tools.filter(isOffered);
}

function refusal(errorText: string): ReadCall {
  return { input: {}, errorText };
}

function ended(state: TurnState, outcome: TurnResult['outcome'], error?: ApiError | CompletionResult): TurnResult {
  const failure = outcome === 'failed' && error instanceof ApiError ? error : undefined;
  const finishReason = outcome === 'failed' ? 'error' : 'other';
  return { ...state, outcome, finishReason, end: plainEnd(finishReason), error: failure };
}

function complete(state: TurnState, finishReason: FinishReason): TurnResult {
  return { ...ended(state, 'complete'), finishReason, end: plainEnd(finishReason) };
}

function countUsage(state: TurnState, usage: Usage | undefined): void {
  if (state.steps === 1) state.promptTokens = usage?.inputTokens;
  if (usage !== undefined) state.contextTokens = usage.inputTokens + usage.outputTokens;
  state.usage = addUsage(state.usage, usage);
}
