import { randomUUIDv7 } from 'node:crypto';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { resolveCredentials } from '../../../catalogue/credentials.ts';
import type { ResolvedModel } from '../../../catalogue/model-choice.ts';
import { providerHeaders, providerUrl } from '../../../catalogue/probes/provider-call.ts';
import { parseForeignJson } from '../../../platform/json/json-scan.ts';
import { estimateTokens } from '../../../platform/text-tokens.ts';
import { countCalls } from '../../../usage/ledger.ts';
import { priced } from '../../../usage/price.ts';
import { finalFailure, providerStatusError, unreadableAnswer } from '../../model/failures/provider-errors.ts';
import { isRecord } from '../../model/stream/storable-text.ts';
import { count } from '../../model/usage.ts';
import type { TurnDeps } from '../../run/model-call.ts';
import { unsupportedMember } from '../gateway-request.ts';
import type { EmbeddingsRequest } from './request.ts';

/** Embeddings of texts, by providers that make them: OpenAI and its like, and Gemini. */

const answerBytesMax = 64 * 1024 * 1024;
const timeoutMs = 120_000;
const dimensionsMax = 16_384;
/** Texts of one request to a provider: their vectors fit the bounds of a foreign JSON text. */
const batchTexts = 24;

type EmbeddingsCall = { ownerId: string; resolved: ResolvedModel; asked: EmbeddingsRequest };
type Vectors = { vectors: number[][]; tokens: number | undefined };
type Wire = {
  path(modelId: string): string;
  body(modelId: string, asked: EmbeddingsRequest): object;
  read(answer: Record<string, unknown>): Vectors;
};

const openAi: Wire = {
  path: () => '/embeddings',
  body: (model, { inputs: input, dimensions }) => ({ model, input, dimensions, encoding_format: 'float' }),
  read: ({ data, usage }) => ({
    vectors: records(data)
      .toSorted((a, b) => Number(a.index ?? 0) - Number(b.index ?? 0))
      .map(({ embedding }) => vectorOf(embedding)),
    tokens: isRecord(usage) ? count(usage.prompt_tokens) : undefined,
  }),
};

const gemini: Wire = {
  path: (modelId) => `/models/${encodeURIComponent(modelId)}:batchEmbedContents`,
  body: (modelId, { inputs, dimensions }) => ({
    requests: inputs.map((text) => ({
      model: `models/${modelId}`,
      content: { parts: [{ text }] },
      outputDimensionality: dimensions,
    })),
  }),
  read: ({ embeddings }) => ({ vectors: records(embeddings).map(({ values }) => vectorOf(values)), tokens: undefined }),
};

const wires: Record<ProviderKind, Wire | undefined> = {
  openai: openAi,
  'openai-responses': openAi,
  gemini,
  anthropic: undefined,
};

/**
 * Asks for embeddings. The call is in the person's usage ledger before this resolves. Throws `invalid_request`,
 * `provider_error` or `provider_unreachable`.
 */
export async function embed(deps: TurnDeps, { ownerId, resolved, asked }: EmbeddingsCall, signal: AbortSignal) {
  const { model, provider, providerName } = resolved;
  const wire = wires[provider.kind];
  if (wire === undefined) throw unsupportedMember('model', "This model's provider makes no embeddings");
  const vectors: number[][] = [];
  let inputTokens = 0;
  let estimated = false;
  try {
    for (let from = 0; from < asked.inputs.length; from += batchTexts) {
      const inputs = asked.inputs.slice(from, from + batchTexts);
      const answer = wire.read(await request(deps, { resolved, asked: { ...asked, inputs } }, wire, signal));
      if (answer.vectors.length !== inputs.length) throw unreadableAnswer('answer');
      vectors.push(...answer.vectors);
      inputTokens += answer.tokens ?? inputs.reduce((sum, text) => sum + estimateTokens(text), 0);
      estimated ||= answer.tokens === undefined;
    }
  } finally {
    const usage = priced({ inputTokens, outputTokens: 0 }, model.prices);
    const { providerModelId, prices, pricesEstimated } = model;
    const called = { providerName, providerModelId, prices, pricesEstimated };
    const place = { ownerId, responseId: `program-${randomUUIDv7()}`, generation: 0, step: 1 };
    const row = { kind: 'program' as const, model: called, usage, estimated, ...place };
    await countCalls(deps.db.kysely, inputTokens === 0 ? [] : [row]);
  }
  return {
    object: 'list',
    model: model.providerModelId,
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: asked.isBase64 ? base64Of(vector) : vector,
    })),
    usage: { prompt_tokens: inputTokens, total_tokens: inputTokens },
  };
}

async function request(
  deps: TurnDeps,
  { resolved, asked }: Omit<EmbeddingsCall, 'ownerId'>,
  wire: Wire,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { model, provider } = resolved;
  const credentials = resolveCredentials(deps, provider);
  const { status, body } = await deps.egress.request(
    providerUrl(provider.kind, provider.base_url, wire.path(model.providerModelId)),
    {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...providerHeaders(provider.kind, credentials) },
      body: JSON.stringify(wire.body(model.providerModelId, asked)),
      signal,
      headersTimeoutMs: timeoutMs,
      totalTimeoutMs: timeoutMs,
      maxResponseBytes: answerBytesMax,
    },
  );
  try {
    const text = await body.text(answerBytesMax);
    if (status < 200 || status >= 300) {
      const secrets = [credentials.apiKey ?? '', ...Object.values(credentials.headers)].filter((each) => each !== '');
      throw finalFailure(providerStatusError(status, text.slice(0, 64 * 1024)), deps.clock.now(), secrets);
    }
    const answer = parse(text);
    if (!isRecord(answer)) throw unreadableAnswer('answer');
    return answer;
  } finally {
    body.destroy();
  }
}

function parse(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch {
    throw unreadableAnswer('answer');
  }
}

function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function vectorOf(value: unknown): number[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > dimensionsMax) throw unreadableAnswer('answer');
  return value.map((each) => {
    if (typeof each !== 'number' || !Number.isFinite(each)) throw unreadableAnswer('answer');
    return each;
  });
}

/** Little-endian floats of 32 bits, as OpenAI's clients read them. */
function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
