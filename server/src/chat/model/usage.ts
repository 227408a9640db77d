import type { Usage } from '@homeport/contracts/chat/frames';

/** The token counts of two parts of one response together; counts missing in both stay missing. */
export function addUsage(first: Usage | undefined, second: Usage | undefined): Usage | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return usageOf({
    inputTokens: first.inputTokens + second.inputTokens,
    outputTokens: first.outputTokens + second.outputTokens,
    reasoningTokens: sum(first.reasoningTokens, second.reasoningTokens),
    cachedInputTokens: sum(first.cachedInputTokens, second.cachedInputTokens),
    cacheWriteTokens: sum(first.cacheWriteTokens, second.cacheWriteTokens),
    cost: first.cost === undefined && second.cost === undefined ? undefined : sumOfCosts(first.cost, second.cost),
  });
}

function sum(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined && second === undefined ? undefined : (first ?? 0) + (second ?? 0);
}

/** If the cost of one call is unknown, so is the sum. */
function sumOfCosts(first: number | null | undefined, second: number | null | undefined): number | null {
  return typeof first === 'number' && typeof second === 'number' ? first + second : null;
}

/** More than any call has: a larger count is none. */
const callTokensMax = 1_000_000_000;

/** A token count as providers report it: a number, or its digits. */
export function count(value: unknown): number | undefined {
  const tokens = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof tokens === 'number' && Number.isInteger(tokens) && tokens >= 0 && tokens <= callTokensMax
    ? tokens
    : undefined;
}

/** Token counts without the missing ones. */
export function usageOf(usage: {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens?: number;
  cachedInputTokens?: number;
  cacheWriteTokens?: number;
  cost?: number | null;
}): Usage {
  const { inputTokens, outputTokens, reasoningTokens, cachedInputTokens, cacheWriteTokens, cost } = usage;
  return {
    inputTokens,
    outputTokens,
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    ...(cost === undefined ? {} : { cost }),
  };
}
