import type { IncomingMessage } from 'node:http';
import { ApiError } from '@homeport/contracts/errors';
import { systemClock } from '../../platform/clock.ts';

/** Shared code of forms and uploads: bodies that are read as they arrive. */

/** A sender that sends nothing for this long counts as disconnected. */
const silenceMs = 60_000;
/** How much is read and discarded after a refusal, so that the client gets to see the response. */
const maxDiscarded = 64 * 1024 * 1024;
const discardMs = 10_000;

/**
 * Calls `refuse` if the request breaks off or falls silent before its body is complete; returns a function that stops
 * watching. Throws if it has already broken off, since such a request emits no further events.
 */
export function watchBody(incoming: IncomingMessage, refuse: (error: ApiError) => void): () => void {
  const early = malformed('The request ended before its body was complete');
  if (incoming.destroyed && !incoming.complete) throw early;
  const cut = (): void => {
    if (!incoming.complete) refuse(early);
  };
  const timer = systemClock.after(silenceMs, cut);
  const onChunk = (): void => void timer.restart();
  incoming.on('data', onChunk).on('close', cut).on('error', cut).on('aborted', cut);
  return () => {
    timer.stop();
    incoming.off('data', onChunk).off('close', cut).off('error', cut).off('aborted', cut);
  };
}

/**
 * Keeps reading for a while without storing anything: if the connection broke at once, the client would lose the
 * response.
 */
export function discardRest(incoming: IncomingMessage): void {
  if (incoming.complete || incoming.destroyed) return;
  let left = maxDiscarded;
  const { socket } = incoming;
  const timer = systemClock.after(discardMs, () => socket.destroy());
  incoming.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) socket.destroy();
  });
  incoming.on('error', () => undefined);
  incoming.once('close', () => timer.stop());
  incoming.once('end', () => timer.stop());
  incoming.resume();
}

export function fileTooLarge(maxBytes: number): ApiError {
  return new ApiError('payload_too_large', `The file is larger than ${maxBytes} bytes`);
}

export function malformed(message: string): ApiError {
  return new ApiError('invalid_request', message, { details: [{ path: '', message }] });
}
