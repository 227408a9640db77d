import type { Prices } from '@homeport/contracts/catalogue/model-facts';
import type { Usage } from '@homeport/contracts/chat/frames';

const perTokens = 1_000_000n;

/**
 * What a call cost, in millionths of a US dollar: as its provider says, otherwise by the model's prices; null when a
 * price that counts is not known. Tokens in the cache without a price of their own cost as much as others.
 */
export function costOf(usage: Usage, prices: Prices | null): number | null {
  if (typeof usage.cost === 'number') return usage.cost;
  if (prices === null) return null;
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  const parts: [number, number | null][] = [
    [Math.max(inputTokens - cachedInputTokens - cacheWriteTokens, 0), prices.input],
    [cachedInputTokens, prices.cachedInput ?? prices.input],
    [cacheWriteTokens, prices.cacheWrite ?? prices.input],
    [outputTokens, prices.output],
  ];
  let sum = 0n;
  for (const [tokens, price] of parts) {
    if (tokens === 0) continue;
    if (price === null) return null;
    sum += BigInt(tokens) * BigInt(price);
  }
  return Number((sum + perTokens / 2n) / perTokens);
}

/** Ten million dollars: what a server or a price claims beyond it would only break the sums of everybody. */
const callCostMax = 10_000_000_000_000;

/** Usage with what it cost. */
export function priced(usage: Usage, prices: Prices | null): Usage & { cost: number | null } {
  const cost = costOf(usage, prices);
  return { ...usage, cost: cost === null ? null : Math.min(cost, callCostMax) };
}
