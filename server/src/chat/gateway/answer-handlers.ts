import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { EventStream } from '../../http/event-stream.ts';
import { type RequestFacts, streamed } from '../../http/handler.ts';
import { systemClock } from '../../platform/clock.ts';
import type { TurnDeps } from '../run/model-call.ts';
import type { FrontWriter, Send } from './front.ts';
import { holdAnswer } from './held-answer.ts';
import { askForClient, type GatewayCall, type PreparedCall, prepareCall } from './model-call.ts';
import { dataLength } from './pictures.ts';

/** A stream begins with its first output, or after this time, so that what fails earlier has its own status. */
const silenceMs = 10_000;

/** An answer as JSON, or one that was sent as events. */
export type GatewayAnswer = Record<string, unknown> | typeof streamed;

export type Answering = {
  request: Pick<RequestFacts, 'id' | 'outgoing' | 'headers'>;
  /** Aborted when the client leaves or loses its access. */
  signal: AbortSignal;
  isStreamed: boolean;
  /** Headers of the stream. */
  headers?: Record<string, string>;
  /** Receives the events of a stream, whether its client is there or not. */
  record?: Send | undefined;
  createWriter(prepared: PreparedCall, send: Send | undefined): FrontWriter;
};

/** Asks the model and answers in the front protocol: whole, or as server-sent events. */
export async function answerCall(
  deps: TurnDeps,
  call: GatewayCall,
  { request, signal, isStreamed, headers, record, createWriter }: Answering,
): Promise<GatewayAnswer> {
  assertSize(request, call);
  const prepared = await prepareCall(deps, call, signal);
  if (!isStreamed) {
    const writer = createWriter(prepared, undefined);
    const held = holdAnswer(writer.sink);
    const ended = await askForClient(deps, prepared, held.sink, signal);
    held.release();
    return writer.end(ended);
  }
  let stream: EventStream | undefined;
  const writer = createWriter(prepared, (events) => {
    stream ??= new EventStream(request.outgoing, { 'x-request-id': request.id, ...headers }, () => undefined);
    stream.write(events);
    record?.(events);
  });
  const silence = systemClock.after(silenceMs, writer.start);
  try {
    const ended = await askForClient(deps, prepared, writer.sink, signal);
    writer.end(ended);
    stream?.end('');
    return streamed;
  } catch (error) {
    if (stream === undefined) throw error;
    writer.fail(error instanceof ApiError ? error : new ApiError('internal_error', 'The answer broke off'));
    stream.end('');
    throw error;
  } finally {
    silence.stop();
  }
}

/** Only pictures and files make a request larger than the limit of its text. */
function assertSize(request: Answering['request'], { request: { messages } }: GatewayCall): void {
  const length = Number(request.headers.get('content-length') ?? 0);
  if (length - dataLength(messages) <= limits.gatewayTextBytes) return;
  throw new ApiError(
    'payload_too_large',
    `A request has at most ${limits.gatewayTextBytes} bytes besides its pictures`,
  );
}
