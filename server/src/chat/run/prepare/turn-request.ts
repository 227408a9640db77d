import { createHash, randomUUIDv7 } from 'node:crypto';
import type { Frame, MessageMetadata, MessagePart, ProviderWait } from '@homeport/contracts/chat/frames';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import { defaultTurnBudget } from '@homeport/contracts/chat/turn-budget-default';
import { catalogueOwner } from '../../../catalogue/catalogue-owner.ts';
import { type ResolvedModel, resolveModel } from '../../../catalogue/model-choice.ts';
import { readBranchNewestFirst } from '../../../conversations/branches.ts';
import { readPlan } from '../../../conversations/plans.ts';
import { systemClock } from '../../../platform/clock.ts';
import { estimateTokens } from '../../../platform/text-tokens.ts';
import type { Claimed } from '../../ledger/response-start.ts';
import { type ChatMessage, stepMessages, toSteps } from '../../model/provider-messages.ts';
import { type HistoryState, ReasoningState } from '../../model/reasoning-state.ts';
import type { Approvals } from '../../tools/call-run.ts';
import type { FindTools, Notice } from '../../tools/find-tools.ts';
import type { Tool } from '../../tools/tool-run.ts';
import type { StorePicture } from '../../turn/answer-extras.ts';
import { type ContextMessage, readHistory, windowOf } from '../../turn/context-history.ts';
import type { FittedContext } from '../../turn/context-window.ts';
import { Spending } from '../../turn/spending.ts';
import type { ContinuedText } from '../../turn/step-writer.ts';
import { estimateMessages } from '../../turn/token-estimate.ts';
import { loadTokenizer } from '../../turn/token-ratio.ts';
import { type AskModel, offered, runTurn, type TurnResult } from '../../turn/turn-loop.ts';
import { type ContextHooks, chooseContext, limitShareOf } from '../context-step.ts';
import type { OnCall } from '../counted-call.ts';
import { delegateTool } from '../delegates.ts';
import { askModelOf, askOnceOf, dialectOfModel, sourceOf, type TurnDeps } from '../model-call.ts';
import type { ServingModel } from '../stand-ins.ts';
import { type DocumentRoom, documentRoom, takesPdf } from './attached-documents.ts';
import { withAttachments, withPictures } from './attachments.ts';
import { abilityLacking, parameterLeftOut, toolsLeftOut } from './left-out.ts';
import { chooseByAssistant, namedAssistant } from './turn-assistant.ts';
import { instructionsOf, keepPromptContext, parametersOf, readTurnContext } from './turn-instructions.ts';

export type PreparedTurn = {
  modelId: string;
  assistant: MessageMetadata['assistant'];
  askModel: AskModel;
  /** Messages of this turn, which come after the conversation so far. */
  messages: ChatMessage[];
  tools: Tool[];
  fitMessages: FittedContext['fitTurn'];
  spending: Spending;
  /** Expected tokens of the prompt, without the messages of this turn. */
  promptTokens: number;
  /** Resolves when the prompt context is stored; never rejects. */
  kept: Promise<void>;
  /** Reasoning state of this response's steps that the model wants returned. */
  reasoningState: ReasoningState;
  /** The part of it that goes with the history of later turns. */
  historyState: () => HistoryState | undefined;
};

/** Callbacks for the preparation of a turn. */
export type PreparingHooks = Omit<ContextHooks, 'ask' | 'onUsage'> & {
  notify: (notice: Notice) => void;
  onWait: (wait: ProviderWait) => void;
  onCall: OnCall;
  /** Awaited before a delegate asks a model once more; throws to end it. */
  beforeDelegateAsks: () => Promise<void>;
};

const branchPageSize = 50;
const leastMessageTokens = 2_048;

const thinkingDropped: Notice = {
  code: 'thinking_dropped',
  message: 'A different model continues this answer. It can’t see the first model’s reasoning.',
};

const continueInstruction: ChatMessage = {
  role: 'user',
  content: 'Your answer above was cut off. Continue it exactly where it stopped, without repeating anything.',
  continues: true,
};

/**
 * Resolves the model, reads what fits of the conversation, and unseals the credentials just before they are used.
 * `refusedTokens`: the size of the prompt that the provider refused as too long.
 */
export async function prepareTurn(
  deps: TurnDeps & { findTools: FindTools },
  { response, context: chat }: Pick<Claimed, 'response' | 'context'>,
  basis: readonly MessagePart[],
  signal: AbortSignal,
  hooks: PreparingHooks & { serving: Pick<ServingModel, 'resolve' | 'isReplaceable'> },
  refusedTokens?: number,
): Promise<PreparedTurn> {
  const promptContextRead = readTurnContext(deps, { response, context: chat });
  const choice = await chooseByAssistant(deps, { response, context: chat }, promptContextRead, hooks.notify);
  const [chosen, all, promptContext, plan] = await Promise.all([
    resolveModel(deps, catalogueOwner(deps.config, response.owner_id), { modelId: choice.modelId, wasTheirs: true }),
    deps.findTools(choice.toolUser, signal, hooks.notify),
    promptContextRead,
    readPlan(deps.db.kysely, response.id),
  ]);
  const resolved = await hooks.serving.resolve(chosen);
  const { isReplaceable } = hooks.serving;
  const found = resolved.model.abilities.tools === false ? [] : all;
  const { assistant } = choice;
  const instructions = instructionsOf(deps, promptContext, assistant, offered(found));
  const notifyOnce = (notice: Notice | undefined): void => {
    if (notice !== undefined) hooks.notify(notice);
  };
  const set = parametersOf(response, promptContext, assistant, resolved);
  const parameters = acceptedParameters(set, resolved, (name) => notifyOnce(parameterLeftOut(response.chat_id, name)));
  const spending = new Spending({ ...defaultTurnBudget, ...promptContext.turnBudget }, systemClock.elapsed);
  const turn = { response, system: instructions.system, tools: found, resolved, parameters, spending };
  const canDelegate = found.some(({ name }) => name === 'bash');
  const callable = canDelegate
    ? [...found, delegateTool(deps, { ...turn, onCall: hooks.onCall, beforeAsking: hooks.beforeDelegateAsks })]
    : found;
  const tools = offered(callable);
  const fixedTokens =
    estimateMessages([instructions.system]) + (tools.length === 0 ? 0 : estimateTokens(JSON.stringify(tools)));
  const { contextWindow, maxOutputTokens } = limitsOf(deps, resolved, { refusedTokens, fixedTokens });
  const answerMax = Math.min(maxOutputTokens, parameters.maxOutputTokens ?? maxOutputTokens);
  const { id: providerId, kind } = resolved.provider;
  const reasoningState = new ReasoningState(
    JSON.stringify([kind, providerId, resolved.provider.base_url, resolved.model.providerModelId]),
    response.echoes,
  );
  if (reasoningState.isDropped) hooks.notify(thinkingDropped);
  const messages = await withPictures(deps, response.owner_id, continuation(basis, reasoningState), signal);
  const window = windowOf({ contextWindow, maxOutputTokens: answerMax });
  const read = await readHistory({
    newestFirst: readBranch(deps, { response, context: chat }, documentRoom(window.room, takesPdf[kind]), signal),
    model: { contextWindow, maxOutputTokens: answerMax },
    fixedTokens,
    turnTokens: estimateMessages(messages),
    plan: plan === null || plan.messageId === response.id ? undefined : plan,
    limitShare: limitShareOf(deps, { context: chat }),
    loadTokenizer,
  });
  const ask = askOnceOf(deps, resolved, { kind: 'summary', isReplaceable, ...hooks });
  let madeSummary = false;
  const onUsage = () => {
    madeSummary = true;
  };
  const context = await chooseContext(
    deps,
    { response, context: chat },
    read,
    { ...hooks, onUsage, ask, isReplaceable },
    signal,
  );
  const sent = { instructions, assistant, tools, parameters, context, resolved, madeSummary };
  const kept = keepPromptContext(deps, response, sent).catch((error) =>
    deps.log.warn({ cause: error, responseId: response.id }, 'failed to store the prompt context of a response'),
  );
  const history = [JSON.stringify(instructions.system), context.history].filter((text) => text !== '').join(',');
  return {
    modelId: resolved.model.id,
    assistant: namedAssistant(assistant),
    askModel: askModelOf(deps, resolved, { ...context, history }, parameters, {
      cacheKey: createHash('sha256').update(response.chat_id).digest('base64url'),
      onWait: hooks.onWait,
      kind: 'answer',
      isReplaceable,
      onCall: hooks.onCall,
      onParameterRefused: (name) => notifyOnce(parameterLeftOut(response.chat_id, name)),
      onAbilityLacking: (ability) => notifyOnce(abilityLacking(response.chat_id, ability)),
      onToolsLeftOut: (tools) => notifyOnce(toolsLeftOut(response.chat_id, tools)),
    }),
    kept,
    messages,
    tools: callable,
    fitMessages: context.fitTurn,
    spending,
    promptTokens: context.tokens,
    reasoningState,
    // Models of the other protocols take nothing back of earlier turns.
    historyState: () => (kind === 'openai' ? reasoningState.historyFor(sourceOf(resolved)) : undefined),
  };
}

/**
 * The model's limits, or those in its server's refusals. Without a number, half of the window is tried. A told window
 * leaves room for a message beside the fixed part: the server decides whether it fits. After a refusal the window is no
 * larger than the prompt was, and so the next prompt is smaller.
 */
function limitsOf(
  { clock }: TurnDeps,
  resolved: ResolvedModel,
  { refusedTokens, fixedTokens }: { refusedTokens: number | undefined; fixedTokens: number },
) {
  const { contextWindow, maxOutputTokens } = resolved.model;
  const told = dialectOfModel(resolved, clock.now());
  const half = refusedTokens === undefined ? contextWindow : contextWindow / 2;
  const roomy = Math.max(told.contextWindow ?? half, 2 * fixedTokens + leastMessageTokens);
  const most = Math.max(refusedTokens ?? contextWindow, fixedTokens + leastMessageTokens);
  const window = Math.min(contextWindow, roomy, most);
  return {
    contextWindow: Math.floor(window),
    maxOutputTokens: Math.min(maxOutputTokens, told.maxOutputTokens ?? maxOutputTokens),
  };
}

/** Without the parameters that the model's facts exclude, each passed to `leaveOut`. */
function acceptedParameters(
  parameters: Parameters,
  { model: { abilities } }: ResolvedModel,
  leaveOut: (name: keyof Parameters) => void,
): Parameters {
  const accepted = { ...parameters };
  for (const [name, ability] of [
    ['temperature', abilities.temperature],
    ['reasoningEffort', abilities.reasoning],
  ] as const) {
    if (ability !== false || accepted[name] === undefined) continue;
    delete accepted[name];
    // An effort of none asks for what such a model does anyway.
    if (parameters[name] !== 'none') leaveOut(name);
  }
  return accepted;
}

/** The conversation before the answer, newest first, with its files. */
export function readBranch(
  deps: TurnDeps,
  { response, context }: Pick<Claimed, 'response' | 'context'>,
  documents: DocumentRoom,
  signal: AbortSignal,
): AsyncIterable<ContextMessage> {
  const branch = readBranchNewestFirst(deps.db, {
    chatId: response.chat_id,
    leafId: response.message_id,
    stopBeforeId: context.contextStartMessageId,
    pageSize: branchPageSize,
  });
  return withAttachments(deps, response.owner_id, branch, signal, documents);
}

function continuation(basis: readonly MessagePart[], reasoningState: ReasoningState): ChatMessage[] {
  const ownMessages = reasoningState.into(toSteps([...basis])).flatMap((step) => stepMessages(step, true));
  const last = ownMessages.at(-1);
  if (last === undefined) return [];
  return last.role === 'assistant' ? [...ownMessages, continueInstruction] : ownMessages;
}

export type TurnHooks = {
  emit: (frame: Frame) => void;
  isSteered: () => Promise<boolean>;
  saveReasoningState: () => Promise<void>;
  checkpoint: (isBeforeAsking: boolean) => Promise<void>;
  /** Undefined where the person cannot be asked. */
  approvals: Approvals | undefined;
  storePicture: StorePicture;
  signal: AbortSignal;
  /** The text that the first step continues. */
  continued: ContinuedText | undefined;
};

export function runPreparedTurn(deps: TurnDeps, turn: PreparedTurn, hooks: TurnHooks): Promise<TurnResult> {
  return runTurn(
    {
      askModel: turn.askModel,
      messages: turn.messages,
      tools: turn.tools,
      fitMessages: turn.fitMessages,
      spending: turn.spending,
      emit: hooks.emit,
      createId: randomUUIDv7,
      onCheckpoint: hooks.checkpoint,
      isSteered: hooks.isSteered,
      onStepState: (callId, stepState) => {
        turn.reasoningState.add(callId, stepState);
        return hooks.saveReasoningState();
      },
      ...(hooks.approvals === undefined ? {} : { approvals: hooks.approvals }),
      continued: hooks.continued,
      storePicture: hooks.storePicture,
      onToolFailure: (toolName, error) => deps.log.warn({ toolName, cause: error }, 'tool failed'),
    },
    hooks.signal,
  );
}
