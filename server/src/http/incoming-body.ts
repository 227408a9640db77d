import type { IncomingMessage } from 'node:http';
import { ApiError } from '@homeport/contracts/errors';
import { systemClock } from '../clock.ts';

/** What bodies that are read as they arrive have in common: forms and uploads. */

/** A sender that says nothing for this long has gone. */
const silenceMs = 60_000;
/** What is still read and thrown away after a refusal, so that the client gets to see the answer. */
const maxDiscarded = 64 * 1024 * 1024;
const discardMs = 10_000;

/**
 * Calls `refuse` when the request is cut or falls silent before its body is complete; returns what ends the watch. Throws when it
 * has been cut already: nothing more is heard of such a request.
 */
export function watchBody(incoming: IncomingMessage, refuse: (error: ApiError) => void): () => void {
  const early = malformed('The request ended before its body was complete');
  if (incoming.destroyed && !incoming.complete) throw early;
  const cut = (): void => {
    if (!incoming.complete) refuse(early);
  };
  const timer = systemClock.after(silenceMs, cut);
  const heard = (): void => void timer.restart();
  incoming.on('data', heard).on('close', cut).on('error', cut).on('aborted', cut);
  return () => {
    timer.stop();
    incoming.off('data', heard).off('close', cut).off('error', cut).off('aborted', cut);
  };
}

/** Reads on for a while without keeping anything: an answer in the middle of a request is lost if the connection breaks at once. */
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
