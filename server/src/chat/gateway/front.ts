import type { Usage } from '@homeport/contracts/chat/frames';
import type { ApiError } from '@homeport/contracts/errors';
import type { CompletionResult, CompletionSink } from '../model/protocol.ts';
import type { GatewayMessage } from './gateway-request.ts';
import type { Sealer } from './sealed-state.ts';

/** An answer of the gateway: its id in the front protocol, the time in seconds, and the model's own id. */
export type AnswerHead = { id: string; created: number; model: string };

/** How an answer ended; where the provider counted nothing, the usage is estimated. */
export type Ended = Pick<CompletionResult, 'finishReason' | 'toolCalls'> & {
  usage: Usage;
  /** State of the whole step, sealed; of models that tell it only at the end. */
  sealedState?: string;
};

/** Writes one answer in a front protocol. Streams begin with the first event. */
export type FrontWriter = {
  sink: CompletionSink;
  /** Sends what the protocol sends before the first output. */
  start(): void;
  /** Sends the last events, and returns the whole answer. */
  end(ended: Ended): Record<string, unknown>;
  /** Sends the error with which a stream ends. */
  fail(error: ApiError): void;
};

/** A request that can be answered: everything that can be refused was looked at. */
export type Prepared = {
  /** An estimate. */
  inputTokens: number;
  /** Undefined where the client gets no state. */
  sealer?: Sealer;
  ask(sink: CompletionSink, signal: AbortSignal): Promise<Ended>;
};

/** The messages as they came, and their preparation. */
export type PreparableCall = { messages: readonly GatewayMessage[]; prepare(signal: AbortSignal): Promise<Prepared> };

/** Sends server-sent events. */
export type Send = (events: string) => void;

/** One event with a name, as Anthropic and Open Responses send them. */
export function namedEvent(event: { type: string; [member: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** True for the whole text of a JSON object. */
export function isWholeJson(json: string): boolean {
  if (!json.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}
