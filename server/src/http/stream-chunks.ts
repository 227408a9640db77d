import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { systemClock, type Timer } from '../platform/clock.ts';
import { EventStream } from './event-stream.ts';
import { type RequestFacts, streamed } from './handler.ts';

const pieces = 4;
/** Milliseconds between two pieces. Tests make it longer. */
export const pace = { pieceMs: limits.liveStreamPieceMs };
/** Anybody may ask. */
const openMax = 20;
let open = 0;

/** A stream with the headers of an answer's, for the doctor: does it arrive as it is written? */
export function streamPieces({ id, outgoing }: RequestFacts): typeof streamed {
  if (open >= openMax) throw new ApiError('rate_limited', 'Too many trial streams are open', { retryAfter: 2 });
  open += 1;
  let sent = 0;
  let timer: Timer | undefined;
  const stream = new EventStream(outgoing, { 'x-request-id': id }, () => {
    open -= 1;
    timer?.stop();
  });
  const next = (): void => {
    sent += 1;
    stream.write(`data: {"piece":${sent}}\n\n`);
    if (sent === pieces) stream.end('');
  };
  next();
  if (!stream.closed) timer = systemClock.every(pace.pieceMs, next);
  return streamed;
}
