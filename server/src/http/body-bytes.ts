import type { IncomingMessage } from 'node:http';
import { ApiError } from '@homeport/contracts/errors';
import { systemClock } from '../clock.ts';

/** How slowly a body may come; times in milliseconds. */
export type BodyPace = {
  /** Any body has this long, whatever its rate. */
  graceMs: number;
  /** From then on it keeps this rate on average. */
  bytesPerSecond: number;
  totalMs: number;
};

export const bodyPace: BodyPace = { graceMs: 10_000, bytesPerSecond: 16 * 1024, totalMs: 60_000 };

export type BodyRules = {
  maxBytes: number;
  pace: BodyPace;
  /** Looks at each piece as it comes; what it throws refuses the body. */
  look?: (chunk: Buffer) => void;
};

/** Bytes that this body may turn out to have, by its own word where it gives one. Throws `payload_too_large`. */
export function declaredBytes({ headers }: IncomingMessage, maxBytes: number): number {
  const length = headers['content-length'];
  if (length === undefined) return maxBytes;
  if (Number(length) > maxBytes) throw tooLarge(maxBytes);
  return Number(length);
}

/** All of a body. Throws `payload_too_large`, or `invalid_request` when it is cut or comes too slowly. */
export function readBytes(incoming: IncomingMessage, { maxBytes, pace, look }: BodyRules): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  const beganAt = systemClock.elapsed();
  let size = 0;
  const allowedMs = (): number => Math.min(pace.totalMs, pace.graceMs + (size / pace.bytesPerSecond) * 1000);
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    try {
      if (size > maxBytes) throw tooLarge(maxBytes);
      look?.(chunk);
      chunks.push(chunk);
    } catch (error) {
      reject(error);
    }
  };
  const onEnd = (): void => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
  const onCut = (): void => reject(new ApiError('invalid_request', 'The request ended before its body was complete'));
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
