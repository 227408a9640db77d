import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { ResolvedModel } from '../../catalogue/model-choice.ts';
import { estimateTokens } from '../../platform/text-tokens.ts';
import { countCalls, type ModelCall } from '../../usage/ledger.ts';
import type { CompletionResult, CompletionSink } from '../model/protocol.ts';
import type { ChatMessage } from '../model/provider-messages.ts';
import { isRecord } from '../model/stream/storable-text.ts';
import { askModelOf, type TurnDeps } from '../run/model-call.ts';
import { estimateMessages } from '../turn/token-estimate.ts';
import type { Ended, PreparableCall } from './front.ts';
import { assertSupported, type GatewayRequest, lackingAbility, unsupportedMember } from './gateway-request.ts';
import { fetchPictures } from './pictures.ts';
import { openStates, type Sealer, sealState } from './sealed-state.ts';

/** A request of a client to a model. */
export type GatewayCall = {
  ownerId: string;
  resolved: ResolvedModel;
  request: GatewayRequest;
  /** Names of members in the front protocol, where they differ from those of chat completions. */
  names?: Readonly<Record<string, string>>;
};

type PreparedCall = GatewayCall & { messages: ChatMessage[]; inputTokens: number };

/** The call as it is answered. */
export function modelCall(deps: TurnDeps, call: GatewayCall): PreparableCall {
  return {
    messages: call.request.messages,
    async prepare(signal) {
      const prepared = await prepareCall(deps, call, signal);
      return {
        inputTokens: prepared.inputTokens,
        sealer: sealerOf(deps, call),
        ask: (sink, leaves) => askForClient(deps, prepared, sink, leaves),
      };
    },
  };
}

/**
 * Checks a request against its model, fetches its pictures and opens its sealed state. Throws `invalid_request` or
 * `blocked_destination`.
 */
async function prepareCall(deps: TurnDeps, call: GatewayCall, signal: AbortSignal): Promise<PreparedCall> {
  const { resolved, request, names } = call;
  assertSupported(resolved, request, names);
  const opened = openStates(sealerOf(deps, call), request.messages);
  const inputTokens = estimateRequest(opened, request);
  const { contextWindow } = resolved.model;
  if (inputTokens >= contextWindow) {
    const message = `The messages have about ${inputTokens} tokens; this model reads ${contextWindow}.`;
    const details = [{ path: 'messages', message, code: 'context_length_exceeded' }];
    throw new ApiError('invalid_request', message, { details });
  }
  const messages = openStates(sealerOf(deps, call), await fetchPictures(deps.egress, request.messages, signal));
  return { ...call, messages, inputTokens };
}

/** Estimates the tokens of messages and tools. */
export function estimateRequest(messages: readonly ChatMessage[], { tools }: Pick<GatewayRequest, 'tools'>): number {
  const definitions = tools.reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool)), 0);
  return estimateMessages(messages) + definitions;
}

function sealerOf({ secrets }: Pick<TurnDeps, 'secrets'>, { ownerId, resolved }: GatewayCall): Sealer {
  return { ring: secrets, ownerId, resolved };
}

/** The same failure without the provider's own sentence, which is for the owner of the provider. */
function withoutProviderMessage(error: unknown): unknown {
  if (!(error instanceof ApiError) || !isRecord(error.details) || error.details.providerMessage === undefined)
    return error;
  const { providerMessage: _, ...details } = error.details;
  const { code, message, retryAfter } = error;
  return new ApiError(code, message, { details, retryAfter, cause: error.cause });
}

/**
 * Asks a model for a client. The call is in the person's usage ledger before this resolves or rejects, even if the
 * client has disconnected.
 */
async function askForClient(
  deps: TurnDeps,
  call: PreparedCall,
  sink: CompletionSink,
  leaves: AbortSignal,
): Promise<Ended> {
  const { ownerId, resolved, request, messages } = call;
  const { model } = resolved;
  const tooLong = AbortSignal.timeout(limits.programCallMinutes * 60_000);
  const maxOutputTokens = Math.min(request.maxOutputTokens ?? model.maxOutputTokens, model.maxOutputTokens);
  const made: ModelCall[] = [];
  const ask = askModelOf(
    deps,
    resolved,
    { history: '', maxOutputTokens, tokens: 0, ratio: 1 },
    { ...model.parameters, ...request.parameters },
    {
      kind: 'program',
      onCall: (each) => made.push(each),
      demands: request.demands,
      onAbilityLacking: (ability) => {
        throw lackingAbility(ability);
      },
      onToolsLeftOut: ([tool]) => {
        throw unsupportedMember('tools', `This model does not take the tool ${tool?.name ?? ''}`);
      },
    },
  );
  const place = { ownerId, responseId: `program-${randomUUIDv7()}`, generation: 0 };
  const isAlone = request.demands.parallelTools === false && resolved.provider.kind === 'gemini';
  try {
    const own = isAlone ? withOneCall(sink) : sink;
    const answer = await ask({ messages, tools: request.tools }, own, AbortSignal.any([leaves, tooLong]));
    const { finishReason, toolCalls } = answer;
    const state = isAlone && toolCalls.length > 1 ? undefined : stateAtEnd(deps, call, answer);
    return {
      finishReason,
      toolCalls: isAlone ? toolCalls.slice(0, 1) : toolCalls,
      usage: answer.usage ?? made[0]?.usage ?? { inputTokens: 0, outputTokens: 0 },
      ...(state === undefined ? {} : { sealedState: state }),
    };
  } catch (error) {
    if (!tooLong.aborted || leaves.aborted) throw withoutProviderMessage(error);
    const message = `The model did not finish within ${limits.programCallMinutes} minutes`;
    throw new ApiError('provider_unreachable', message, { cause: error });
  } finally {
    const rows = made.map((each, index) => ({ ...each, ...place, step: index + 1 }));
    await countCalls(deps.db.kysely, rows);
  }
}

/** State that was not passed to the sink with the reasoning it belongs to. */
function stateAtEnd(deps: TurnDeps, call: GatewayCall, { stepState }: CompletionResult): string | undefined {
  const { kind } = call.resolved.provider;
  if (stepState === undefined || kind === 'anthropic' || kind === 'openai-responses') return undefined;
  if (kind === 'openai' && !stepState.some(isOpaque)) return undefined;
  return sealState(sealerOf(deps, call), { step: stepState });
}

/** State of chat completions that is more than the text of the reasoning, which clients send back anyway. */
function isOpaque(state: unknown): boolean {
  if (!isRecord(state) || !isRecord(state.members) || !Array.isArray(state.calls)) return false;
  const names = Object.keys(state.members).filter((name) => name !== 'reasoning' && name !== 'reasoning_content');
  return names.length > 0 || state.calls.some((extra) => extra !== null);
}

/** Passes on the first call only, for protocols that can't be asked for one. */
function withOneCall(sink: CompletionSink): CompletionSink {
  let first: string | undefined;
  return {
    ...sink,
    toolStart(call) {
      if (first !== undefined) return;
      first = call.id;
      sink.toolStart(call);
    },
    toolDelta(id, delta) {
      if (id === first) sink.toolDelta(id, delta);
    },
  };
}
