import { systemClock, type Timer } from '../../platform/clock.ts';
import { droppedConnection } from './failures/provider-errors.ts';

/** A response body. `pump` passes on chunks synchronously, which costs least; without it the body is iterated. */
export type ProviderBody = AsyncIterable<Uint8Array> & {
  pump?(onChunk: (chunk: Uint8Array) => void): Promise<void>;
  destroy?(): unknown;
};

/** How long the server may take to end the response after the last wanted chunk, so that its connection is kept. */
const drainMs = 1000;

/**
 * Passes every chunk to `onChunk` until it returns true, the body ends or the signal aborts. Rejects with what
 * `onChunk` throws, with ApiError `provider_unreachable` for a broken connection, or with the signal's reason.
 */
export function readBody(
  body: ProviderBody,
  onChunk: (chunk: Uint8Array) => boolean,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let settled = false;
    let timer: Timer | undefined;
    const settle = (): boolean => {
      if (settled) return false;
      settled = true;
      signal.removeEventListener('abort', onAbort);
      return true;
    };
    const fail = (error: unknown): void => {
      if (!settle()) return;
      body.destroy?.();
      reject(error);
    };
    const onAbort = (): void => fail(signal.reason);
    const take = (chunk: Uint8Array): void => {
      if (settled) return;
      try {
        if (!onChunk(chunk) || !settle()) return;
      } catch (error) {
        fail(error);
        return;
      }
      timer = systemClock.after(drainMs, () => body.destroy?.());
      resolve();
    };
    const ended = (): void => {
      timer?.stop();
      if (settle()) resolve();
    };
    const broken = (error: unknown): void => {
      timer?.stop();
      fail(droppedConnection(error));
    };
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort);
    const pumped = body.pump === undefined ? iterate(body, take, () => settled) : body.pump(take);
    pumped.then(ended, broken);
  });
}

async function iterate(body: ProviderBody, take: (chunk: Uint8Array) => void, isSettled: () => boolean): Promise<void> {
  for await (const chunk of body) {
    take(chunk);
    if (isSettled()) return;
  }
}
