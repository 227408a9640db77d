import type { Model } from '@homeport/contracts/catalogue/catalogue';
import type { Prices } from '@homeport/contracts/catalogue/model-facts';
import { dollars } from '../../dollars.ts';

/** Below this window a few tool results fill it. */
const toolsNeed = 16_000;

export function isSmallForTools({ contextWindow, abilities }: Pick<Model, 'contextWindow' | 'abilities'>): boolean {
  return abilities.tools && contextWindow < toolsNeed;
}

/** `128k`, `1M`: a token count as people write it. */
export function shortCount(tokens: number): string {
  if (tokens >= 1_000_000) return `${rounded(tokens / 1_000_000)}M`;
  return tokens >= 1_000 ? `${rounded(tokens / 1_000)}k` : String(tokens);
}

/** The price of a million tokens, input and output: `$0.25 / $1.50`; undefined if neither is known. */
export function priceText({ input, output }: Prices, locale: string): string | undefined {
  if (input === null && output === null) return undefined;
  return [input, output].map((price) => (price === null ? '?' : dollars(price, locale))).join(' / ');
}

function rounded(value: number): string {
  return String(Math.round(value * (value < 10 ? 10 : 1)) / (value < 10 ? 10 : 1));
}
