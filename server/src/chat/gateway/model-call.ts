import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { catalogueOwner } from '../../catalogue/catalogue-owner.ts';
import { findModelByName, type ResolvedModel, resolveModel } from '../../catalogue/model-choice.ts';
import { countCalls, type ModelCall } from '../../usage/ledger.ts';
import type { CompletionSink } from '../model/protocol.ts';
import { isRecord } from '../model/storable-text.ts';
import { askModelOf, type TurnDeps } from '../run/model-call.ts';
import { estimateMessages } from '../turn/token-estimate.ts';
import type { Ended } from './completion.ts';
import type { ProgramRequest } from './completion-request.ts';

/** A model by what a program calls it. Throws `not_found` with what to do. */
export async function modelOf(deps: TurnDeps, userId: string, name: string): Promise<ResolvedModel> {
  const owner = catalogueOwner(deps.config, userId);
  if (name === 'default') return resolveModel(deps, owner, {});
  const found = await findModelByName(deps, owner, name);
  if (found !== undefined) return found;
  throw new ApiError('not_found', 'No model has this name. GET /models lists them; "default" is always there.');
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
 * Asks a model for a program. The call is in the person's usage ledger before this resolves or rejects, even if the
 * program has disconnected.
 */
export async function askForProgram(
  deps: TurnDeps,
  { userId, resolved, request }: { userId: string; resolved: ResolvedModel; request: ProgramRequest },
  sink: CompletionSink,
  leaves: AbortSignal,
): Promise<Ended> {
  const { model } = resolved;
  const { messages, tools, parameters } = request;
  const tooLong = AbortSignal.timeout(limits.programCallMinutes * 60_000);
  const maxOutputTokens = Math.min(request.maxOutputTokens ?? model.maxOutputTokens, model.maxOutputTokens);
  const tokens = estimateMessages(messages);
  if (tokens >= model.contextWindow) {
    const message = `The messages have about ${tokens} tokens; this model reads ${model.contextWindow}.`;
    throw new ApiError('invalid_request', message, { details: [{ path: 'messages', message }] });
  }
  const made: ModelCall[] = [];
  const ask = askModelOf(
    deps,
    resolved,
    { history: '', maxOutputTokens, tokens: 0, ratio: 1 },
    { ...model.parameters, ...parameters },
    { kind: 'program', onCall: (call) => made.push(call) },
  );
  const place = { ownerId: userId, responseId: `program-${randomUUIDv7()}`, generation: 0 };
  try {
    const answer = await ask({ messages, tools }, sink, AbortSignal.any([leaves, tooLong]));
    const { finishReason, toolCalls } = answer;
    return { finishReason, toolCalls, usage: answer.usage ?? made[0]?.usage ?? { inputTokens: 0, outputTokens: 0 } };
  } catch (error) {
    if (!tooLong.aborted || leaves.aborted) throw withoutProviderMessage(error);
    const message = `The model did not finish within ${limits.programCallMinutes} minutes`;
    throw new ApiError('provider_unreachable', message, { cause: error });
  } finally {
    const rows = made.map((call, index) => ({ ...call, ...place, step: index + 1 }));
    await countCalls(deps.db.kysely, rows);
  }
}
