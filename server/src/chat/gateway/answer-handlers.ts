import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { EventStream } from '../../http/event-stream.ts';
import { type RequestFacts, streamed } from '../../http/handler.ts';
import { systemClock } from '../../platform/clock.ts';
import type { CompletionSink } from '../model/protocol.ts';
import type { Ended, FrontWriter, PreparableCall, Prepared, Send } from './front.ts';
import type { GatewayMessage } from './gateway-request.ts';
import { holdAnswer } from './held-answer.ts';
import type { Written } from './kept/conversation.ts';
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
  /** Receives the events of a stream, whether its client is there or not. */
  record?: Send | undefined;
  /** Stores the answer before its client learns that it has ended. */
  keep?: ((answer: EndedAnswer) => Promise<void>) | undefined;
  createWriter(prepared: Prepared, send: Send | undefined): FrontWriter;
};

/** An answer that has ended: its text, its end, and the whole of it in the front protocol. */
type EndedAnswer = { written: Written; ended: Ended; whole: Record<string, unknown> };

/** Asks the model and answers in the front protocol: whole, or as server-sent events. */
export async function answerCall(
  { messages, prepare }: PreparableCall,
  { request, signal, isStreamed, record, keep, createWriter }: Answering,
): Promise<GatewayAnswer> {
  assertSize(request, messages);
  const prepared = await prepare(signal);
  const written: Written = { text: '', reasoning: '' };
  if (!isStreamed) {
    const writer = createWriter(prepared, undefined);
    const held = holdAnswer(gathering(writer.sink, written));
    const ended = await prepared.ask(held.sink, signal);
    held.release();
    const whole = writer.end(ended);
    await keep?.({ written, ended, whole });
    return whole;
  }
  let stream: EventStream | undefined;
  let last: string[] | undefined;
  const send = (events: string): void => {
    stream ??= new EventStream(request.outgoing, { 'x-request-id': request.id }, () => undefined);
    stream.write(events);
    record?.(events);
  };
  const writer = createWriter(prepared, (events) => (last === undefined ? send(events) : void last.push(events)));
  const silence = systemClock.after(silenceMs, writer.start);
  try {
    const ended = await prepared.ask(gathering(writer.sink, written), signal);
    last = [];
    const whole = writer.end(ended);
    await keep?.({ written, ended, whole });
    send(last.join(''));
    stream?.end('');
    return streamed;
  } catch (error) {
    if (stream === undefined) throw error;
    last = undefined;
    writer.fail(error instanceof ApiError ? error : new ApiError('internal_error', 'The answer broke off'));
    stream.end('');
    throw error;
  } finally {
    silence.stop();
  }
}

/** The same sink, which also gathers text and reasoning. */
function gathering(sink: CompletionSink, written: Written): CompletionSink {
  return {
    ...sink,
    text(delta) {
      written.text += delta;
      sink.text(delta);
    },
    reasoning(delta) {
      written.reasoning += delta;
      sink.reasoning(delta);
    },
  };
}

/** Only pictures and files make a request larger than the limit of its text. */
function assertSize(request: Answering['request'], messages: readonly GatewayMessage[]): void {
  const length = Number(request.headers.get('content-length') ?? 0);
  if (length - dataLength(messages) <= limits.gatewayTextBytes) return;
  throw new ApiError(
    'payload_too_large',
    `A request has at most ${limits.gatewayTextBytes} bytes besides its pictures`,
  );
}
