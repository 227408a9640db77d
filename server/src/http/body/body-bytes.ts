import type { IncomingMessage } from 'node:http';
import { ApiError } from '@homeport/contracts/errors';
import { systemClock } from '../../platform/clock.ts';

/** How slowly a body may arrive; times in milliseconds. */
export type BodyPace = {
  /** Any body has this much time, whatever its rate. */
  graceMs: number;
  /** After that it must keep this rate on average. */
  bytesPerSecond: number;
  totalMs: number;
};

export const bodyPace: BodyPace = { graceMs: 10_000, bytesPerSecond: 16 * 1024, totalMs: 60_000 };

export type BodyRules = {
  maxBytes: number;
  pace: BodyPace;
  /** Sees each chunk as it arrives; throwing refuses the body. */
  look?: (chunk: Buffer) => void;
};

/** How many bytes this body may have, from its declared length if there is one. Throws `payload_too_large`. */
export function declaredBytes({ headers }: IncomingMessage, maxBytes: number): number {
  const length = headers['content-length'];
  if (length === undefined) return maxBytes;
  if (Number(length) > maxBytes) throw tooLarge(maxBytes);
  return Number(length);
}

/**
 * The whole body, in memory of its own. Throws `payload_too_large`, or `invalid_request` if it is cut off or arrives
 * too slowly.
 */
export function readBytes(
  incoming: IncomingMessage,
  { maxBytes, pace, look }: BodyRules,
): Promise<Buffer<ArrayBuffer>> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer<ArrayBuffer>>();
  // Each chunk is copied into place as it arrives: joining many megabytes at the end would block the event loop. Pages
  // that are never written take no memory.
  const bytes = Buffer.from(new ArrayBuffer(declaredBytes(incoming, maxBytes)));
  const beganAt = systemClock.elapsed();
  let size = 0;
  const allowedMs = (): number => Math.min(pace.totalMs, pace.graceMs + (size / pace.bytesPerSecond) * 1000);
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    try {
      if (size > bytes.length) throw tooLarge(maxBytes);
      look?.(chunk);
      chunk.copy(bytes, size - chunk.length);
    } catch (error) {
      reject(error);
    }
  };
  const onEnd = (): void => resolve(bytes.subarray(0, size));
  const onCut = (): void => {
    // A request that was read whole is closed as well.
    if (!incoming.readableEnded) {
      reject(new ApiError('invalid_request', 'The request ended before its body was complete'));
    }
  };
  const onTime = (): void => {
    const left = allowedMs() - (systemClock.elapsed() - beganAt);
    if (left > 0) timer = systemClock.after(left, onTime);
    else reject(new ApiError('invalid_request', 'The request body arrived too slowly'));
  };
  let timer = systemClock.after(allowedMs(), onTime);
  incoming.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut);
  if (incoming.destroyed && !incoming.complete) onCut();
  return promise.finally(() => {
    timer.stop();
    incoming.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut);
  });
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('payload_too_large', `The body is larger than ${maxBytes} bytes`);
}
