import { createHash, randomUUIDv7 } from 'node:crypto';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { ProviderWait } from '@homeport/contracts/chat/frames';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import type { BlobStore } from '../../artifacts/blob-store.ts';
import type { Pictures } from '../../artifacts/pictures/pictures.ts';
import { circuitOf } from '../../catalogue/circuits.ts';
import { resolveCredentials } from '../../catalogue/credentials.ts';
import { storeLessons } from '../../catalogue/lessons.ts';
import type { ResolvedModel } from '../../catalogue/model-choice.ts';
import type { Documents } from '../../documents/documents.ts';
import { isPrivateAddress } from '../../egress/destination.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Platform } from '../../platform.ts';
import type { CallKind } from '../../usage/ledger.ts';
import { withCircuit } from '../model/circuit-call.ts';
import { applyLessons, lessonsKey, lessonsOf } from '../model/fitting/kept-lessons.ts';
import { dialectOf, type ProviderDialect } from '../model/provider-dialect.ts';
import {
  type CompletionOptions,
  createModelClient,
  type ModelClient,
  type ProviderRequest,
} from '../model/stream/provider-stream.ts';
import type { FittedContext } from '../turn/context-window.ts';
import type { AskForText } from '../turn/title.ts';
import { estimateMessages } from '../turn/token-estimate.ts';
import type { AskModel } from '../turn/turn-loop.ts';
import type { ContextHooks } from './context-step.ts';
import { countedCall, type OnCall } from './counted-call.ts';

/** How the model of a turn is called; its key is unsealed at each call and held no longer. */

export type TurnDeps = Pick<
  Platform,
  'config' | 'db' | 'secrets' | 'egress' | 'clock' | 'log' | 'metrics' | 'tracing'
> & { artifactStore: BlobStore; documents: Documents; pictures: Pictures };

/** Local models read a long prompt for minutes before their first token. */
const firstByteMs = { private: 600_000, public: 300_000 };
const providerIdleTimeoutMs = 300_000;

/** Applies even if a provider ignores the requested limit. */
const shortAnswer = { maxTextLength: 64 * 1024 };

/** How a model is asked; its key is unsealed at each call and held no longer. */
export function askModelOf(
  deps: TurnDeps,
  resolved: ResolvedModel,
  context: Pick<FittedContext, 'history' | 'maxOutputTokens' | 'tokens' | 'ratio'>,
  parameters: Parameters,
  {
    kind,
    onCall,
    isReplaceable = false,
    ...hooks
  }: Pick<
    CompletionOptions,
    'cacheKey' | 'demands' | 'onWait' | 'onParameterRefused' | 'onToolsLeftOut' | 'onAbilityLacking'
  > & {
    kind: CallKind;
    onCall: OnCall;
    /** A stand-in answers if the first request fails. */
    isReplaceable?: boolean;
  },
): AskModel {
  const { ask, call } = modelCall(deps, resolved);
  const { history, maxOutputTokens } = context;
  let isFirst = true;
  return ({ messages, tools }, sink, signal) => {
    const inputTokens = () => Math.ceil(context.tokens + estimateMessages(messages) * context.ratio);
    const options = { ...call(), history, messages, tools, maxOutputTokens, parameters, ...hooks };
    const replaceable = { isReplaceable: isReplaceable && isFirst };
    isFirst = false;
    return countedCall(
      { kind, resolved, inputTokens },
      onCall,
      (own) => ask({ ...options, ...replaceable }, own, signal),
      {
        sink,
        signal,
      },
    );
  };
}

/** One short answer as text, for titles. */
export function askForTextOf(deps: TurnDeps, resolved: ResolvedModel, onCall: OnCall): AskForText {
  const ask = askOnceOf(deps, resolved, { kind: 'title', onCall });
  return async (request, signal) => (await ask(request, signal)).text;
}

/** Requests one answer as text, without tools, within the model's maximum output. */
export function askOnceOf(
  deps: TurnDeps,
  resolved: ResolvedModel,
  {
    kind,
    onCall,
    onWait,
    isReplaceable,
  }: { kind: CallKind; onCall: OnCall; onWait?: (wait: ProviderWait) => void; isReplaceable?: boolean },
): ContextHooks['ask'] {
  const { ask, call } = modelCall(deps, resolved);
  return async ({ messages, maxOutputTokens }, signal) => {
    let text = '';
    const ignore = (): undefined => undefined;
    const sink = {
      text: (delta: string) => (text += delta),
      reasoning: ignore,
      textWasReasoning: () => {
        text = '';
      },
      toolStart: ignore,
      toolDelta: ignore,
    };
    const limit = Math.min(maxOutputTokens, resolved.model.maxOutputTokens);
    const request = { ...call(), messages, maxOutputTokens: limit, bounds: shortAnswer };
    const { usage } = await countedCall(
      { kind, resolved, inputTokens: () => estimateMessages(messages) },
      onCall,
      (own) => ask({ ...request, onWait, isReplaceable: isReplaceable === true }, own, signal),
      { sink, signal },
    );
    return { text, usage };
  };
}

/** Stores what a call has taught; a call does not fail because of it. */
function keepingLessons(
  { db, log }: TurnDeps,
  { model }: ResolvedModel,
  dialect: ProviderDialect,
  ask: ModelClient,
): ModelClient {
  let stored = lessonsKey(model.lessons);
  return async (options, sink, signal) => {
    try {
      return await ask(options, sink, signal);
    } finally {
      const lessons = lessonsOf(dialect);
      const key = lessonsKey(lessons);
      if (key !== stored) {
        stored = key;
        storeLessons(db.kysely, model.id, lessons).then(
          () => {
            dialect.storedLessons = key;
          },
          (error) => log.warn({ cause: error, modelId: model.id }, 'failed to store what a model refuses'),
        );
      }
    }
  };
}

/** The lessons about a model. */
export function dialectOfModel({ model, provider }: ResolvedModel, now: number): ProviderDialect {
  const { id, kind, base_url: baseUrl } = provider;
  const { lessons, providerModelId } = model;
  const apply = (dialect: ProviderDialect): void => applyLessons(dialect, lessons);
  return dialectOf([id, kind, baseUrl, providerModelId], baseUrl, now, { key: lessonsKey(lessons), apply });
}

/** A client of the provider's protocol, and what all its calls have in common. */
function modelCall(deps: TurnDeps, resolved: ResolvedModel) {
  const { model, provider } = resolved;
  const { kind, base_url: baseUrl } = provider;
  const modelId = model.providerModelId;
  const dialect = dialectOfModel(resolved, deps.clock.now());
  const call = () => ({
    ...resolveCredentials(deps, provider),
    request: measured(deps),
    baseUrl,
    modelId,
    abilities: model.abilities,
    source: sourceOf(resolved),
    dialect,
    createId: randomUUIDv7,
    sleep: (milliseconds: number, signal: AbortSignal) => deps.clock.sleep(milliseconds, signal),
    wait: (milliseconds: number, signal: AbortSignal) => deps.clock.sleep(milliseconds, signal),
    random: Math.random,
    now: () => deps.clock.now(),
    firstByteMs: firstByteMsOf(provider),
    idleTimeoutMs: providerIdleTimeoutMs,
  });
  const ask = traced(deps, createModelClient(kind), kind, modelId);
  return { ask: withCircuit(circuitOf(provider), keepingLessons(deps, resolved, dialect, ask)), call };
}

function firstByteMsOf({ base_url: baseUrl, first_byte_seconds: seconds }: ResolvedModel['provider']): number {
  if (seconds !== null) return seconds * 1000;
  return isPrivateAddress(baseUrl) ? firstByteMs.private : firstByteMs.public;
}

/** The model as the maker of reasoning state, which is sent to no other provider, address or family of models. */
export function sourceOf({ model, provider }: ResolvedModel): string {
  const family = /^\D{0,64}/.exec(model.providerModelId.toLowerCase())?.[0];
  const named = JSON.stringify([provider.kind, provider.id, provider.base_url, family]);
  return createHash('sha256').update(named).digest('base64url').slice(0, 16);
}

/** Traces each model call: the model and its token counts, never content. */
function traced({ tracing }: TurnDeps, ask: ModelClient, kind: ProviderKind, modelId: string): ModelClient {
  const facts = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': kind,
    'gen_ai.request.model': modelId,
  };
  return (options, sink, signal) =>
    tracing.span({ kind: 'client', name: `chat ${modelId}`, facts }, async () => {
      const answer = await ask(options, sink, signal);
      tracing.tell({
        'gen_ai.usage.input_tokens': answer.usage?.inputTokens,
        'gen_ai.usage.output_tokens': answer.usage?.outputTokens,
      });
      return answer;
    });
}

/** Records the metrics of each call. An aborted call does not count as a failure of the provider. */
function measured({ config, egress, metrics, tracing }: TurnDeps): ProviderRequest {
  return async (url, init) => {
    const startedAt = systemClock.elapsed();
    const seconds = () => (systemClock.elapsed() - startedAt) / 1000;
    try {
      const parent = config.traceContextToProviders ? tracing.header() : undefined;
      const headers = parent === undefined ? init.headers : { ...init.headers, traceparent: parent };
      const answer = await egress.request(url, { ...init, headers });
      tracing.tell({ 'http.response.status_code': answer.status });
      metrics.providerCall(answer.status, seconds());
      return answer;
    } catch (error) {
      if (!init.signal.aborted) metrics.providerCall(undefined, seconds());
      throw error;
    }
  };
}
