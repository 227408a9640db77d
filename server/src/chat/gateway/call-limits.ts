import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { PerAccount } from '../../platform/concurrency/per-account.ts';

/** Calls of one token: how many run at once, and how many begin in a minute, in this process. */

const windowMs = 60_000;
const windowsMax = 10_000;

type Window = { startedAt: number; calls: number };

const windows = new Map<string, Window>();
const running = new PerAccount(limits.gatewayCallsAtOnce);

/** The headers that tell a client how many calls are left. */
export type LimitHeaders = Record<`x-ratelimit-${'limit' | 'remaining' | 'reset'}-requests`, string>;

/** Counts a request of a token. Throws `rate_limited` beyond its rate. */
export function countRequest(tokenId: string, now: number): LimitHeaders {
  const known = windows.get(tokenId);
  const window = known !== undefined && now - known.startedAt < windowMs ? known : { startedAt: now, calls: 0 };
  windows.delete(tokenId);
  windows.set(tokenId, window);
  if (windows.size > windowsMax) forgetOld(now);
  const seconds = Math.max(1, Math.ceil((window.startedAt + windowMs - now) / 1000));
  if (window.calls >= limits.gatewayCallsPerMinute) {
    const message = `A token may call ${limits.gatewayCallsPerMinute} times a minute. Wait a moment.`;
    throw new ApiError('rate_limited', message, { retryAfter: seconds });
  }
  window.calls += 1;
  return {
    'x-ratelimit-limit-requests': String(limits.gatewayCallsPerMinute),
    'x-ratelimit-remaining-requests': String(limits.gatewayCallsPerMinute - window.calls),
    'x-ratelimit-reset-requests': `${seconds}s`,
  };
}

function forgetOld(now: number): void {
  for (const [tokenId, { startedAt }] of windows) if (now - startedAt >= windowMs) windows.delete(tokenId);
}

/** Takes one of the token's places until the returned function is called. Throws `rate_limited`. */
export function takePlace(tokenId: string): () => void {
  if (!running.isFull(tokenId)) return running.take(tokenId);
  const message = `This token has ${limits.gatewayCallsAtOnce} calls running already. Wait for an answer.`;
  throw new ApiError('rate_limited', message, { retryAfter: 1 });
}
