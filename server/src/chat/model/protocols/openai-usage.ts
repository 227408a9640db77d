import type { Usage } from '@homeport/contracts/chat/frames';
import { isRecord } from '../stream/storable-text.ts';
import { count, usageOf } from '../usage.ts';

/**
 * The usage in a chunk: in its own member, in the choice as Moonshot sends it, or in the member of Groq. Undefined where
 * there are no counts: some servers send an empty usage with the last chunk.
 */
export function usageIn(
  chunk: Record<string, unknown>,
  choice: Record<string, unknown> | undefined,
): Usage | undefined {
  const { x_groq: groq } = chunk;
  const places = [chunk.usage, choice?.usage, isRecord(groq) ? groq.usage : undefined];
  for (const place of places) {
    const usage = readUsage(place);
    if (usage !== undefined && usage.inputTokens + usage.outputTokens > 0) return usage;
  }
  return undefined;
}

/** Servers report their caches in many ways; for all of them the prompt's tokens are the whole input. */
function readUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const output = isRecord(value.completion_tokens_details) ? value.completion_tokens_details : {};
  const input = isRecord(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  const cached = [
    input.cached_tokens,
    value.prompt_cache_hit_tokens,
    value.cache_read_input_tokens,
    value.cached_tokens,
  ];
  const written = [input.cache_write_tokens, input.cache_creation_tokens, value.cache_creation_input_tokens];
  const [inputTokens, told, reasoningTokens = 0] = [
    value.prompt_tokens ?? value.input_tokens,
    value.completion_tokens ?? value.output_tokens,
    output.reasoning_tokens,
  ].map(count);
  // xAI counts reasoning beside the completion; the total shows it.
  const isBeside = reasoningTokens > 0 && value.total_tokens === (inputTokens ?? 0) + (told ?? 0) + reasoningTokens;
  return usageOf({
    inputTokens: inputTokens ?? 0,
    outputTokens: (told ?? 0) + (isBeside ? reasoningTokens : 0),
    reasoningTokens: count(output.reasoning_tokens),
    cachedInputTokens: largest(cached),
    cacheWriteTokens: largest(written),
    cost: costOf(value),
  });
}

/** Gateways repeat a count, and one of the places can hold 0. */
function largest(values: readonly unknown[]): number | undefined {
  const counts = values.map(count).filter((tokens) => tokens !== undefined);
  return counts.length === 0 ? undefined : Math.max(...counts);
}

/** With a key of its own at OpenRouter, an account pays the provider: the cost has a member of its own, or none. */
function costOf(usage: Record<string, unknown>): number | undefined {
  const details = isRecord(usage.cost_details) ? usage.cost_details : {};
  if (usage.is_byok !== true) return dollars(usage.cost);
  const upstream = dollars(details.upstream_inference_cost);
  return upstream === undefined || upstream === 0 ? undefined : upstream + (dollars(usage.cost) ?? 0);
}

/** The cost of the call as reported by some servers, in millionths of a US dollar. */
function dollars(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value < 1e9 ? Math.round(value * 1_000_000) : undefined;
}
