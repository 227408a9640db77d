import type { Usage } from '@homeport/contracts/frames';

/** The token counts of two parts of one response together; counts missing in both stay missing. */
export function addUsage(first: Usage | undefined, second: Usage | undefined): Usage | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return usageOf({
    inputTokens: first.inputTokens + second.inputTokens,
    outputTokens: first.outputTokens + second.outputTokens,
    reasoningTokens: sum(first.reasoningTokens, second.reasoningTokens),
    cachedInputTokens: sum(first.cachedInputTokens, second.cachedInputTokens),
    cacheWriteTokens: sum(first.cacheWriteTokens, second.cacheWriteTokens),
  });
}

function sum(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined && second === undefined ? undefined : (first ?? 0) + (second ?? 0);
}

/** A token count as providers report it. */
export function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Token counts without the missing ones. */
export function usageOf(usage: {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens?: number | undefined;
  cachedInputTokens?: number | undefined;
  cacheWriteTokens?: number | undefined;
}): Usage {
  const { inputTokens, outputTokens, reasoningTokens, cachedInputTokens, cacheWriteTokens } = usage;
  return {
    inputTokens,
    outputTokens,
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
  };
}
