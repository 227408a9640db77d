import type { Prices } from '@homeport/contracts/catalogue/model-facts';
import type { Usage } from '@homeport/contracts/chat/frames';

const perTokens = 1_000_000n;

/**
 * Cost of a call in millionths of a US dollar: as reported by its provider, otherwise by the model's prices; null when
 * a price that counts is unknown. Cached tokens without their own price cost as much as others.
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

/** Ten million dollars: higher claims of a server or a price would only break all sums. */
const callCostMax = 10_000_000_000_000;

/** Usage with what it cost. */
export function priced(usage: Usage, prices: Prices | null): Usage & { cost: number | null } {
  const cost = costOf(usage, prices);
  return { ...usage, cost: cost === null ? null : Math.min(cost, callCostMax) };
}
