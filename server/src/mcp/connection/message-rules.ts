import { AsyncLocalStorage } from 'node:async_hooks';
import type {
  JSONRPCMessage,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client';
import { systemClock } from '../../platform/clock.ts';
import { mcpBounds } from '../bounds.ts';
import { makePlain } from './plain-messages.ts';

/** Rules for a server's messages: a bounded number of its own requests, and a response to each of ours. */

type MessageTransport = { onmessage?: ((message: never, extra?: never) => void) | undefined };

/**
 * Limits the server's messages: a message beyond the limits is dropped and `onBroken` is called. `onSeen` is called for
 * every message that is read.
 */
export function boundMessages(
  transport: MessageTransport,
  onBroken: (reason: string) => void,
  onSeen: (message: object) => void = () => undefined,
): void {
  let handler: MessageTransport['onmessage'];
  let count = 0;
  let windowStart = systemClock.elapsed();
  const isTooMuch = (message: object): boolean => {
    if (!('method' in message && 'id' in message)) return false;
    const now = systemClock.elapsed();
    if (now - windowStart > 10_000) {
      windowStart = now;
      count = 0;
    }
    count += 1;
    return count > mcpBounds.requestsPer10s;
  };
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => handler,
    set(next: MessageTransport['onmessage']) {
      handler =
        next === undefined
          ? undefined
          : (message, extra) => {
              const excess = isTooMuch(message) ? 'it sent too many requests' : makePlain(message);
              if (excess !== undefined) return onBroken(excess);
              onSeen(message);
              next(message, extra);
            };
    },
  });
}

type Sent = { isStream: boolean; refused?: Error };

/** The message that is being sent, and the outcome so far. */
const sending = new AsyncLocalStorage<Sent>();

/** The request that is being sent is answered by a stream, which may bring the answer later. */
export function noteStream(): void {
  const sent = sending.getStore();
  if (sent !== undefined) sent.isStream = true;
}

/** The message that is being sent was refused; the library's own error lacks the server's challenge. */
export function noteRefused(error: Error): void {
  const sent = sending.getStore();
  if (sent !== undefined) sent.refused = error;
}

async function sendNoting(sent: Sent, send: () => Promise<void>): Promise<void> {
  try {
    await sending.run(sent, send);
  } catch (error) {
    throw sent.refused ?? error;
  }
}

/** Makes what a server refuses fail with its reason. */
export function tellRefusals(transport: SSEClientTransport): void {
  const send = transport.send.bind(transport);
  transport.send = (message) => sendNoting({ isStream: false }, () => send(message));
}

/**
 * Fails a request at once when its response has ended without an answer, which the library would wait for until it is
 * too late. Returns what has to learn of every message that is read.
 */
export function failUnanswered(transport: StreamableHTTPClientTransport): (message: object) => void {
  const waiting = new Set<string | number>();
  const send = transport.send.bind(transport);
  const fail = (id: string | number): void => {
    if (waiting.delete(id)) transport.onmessage?.({ jsonrpc: '2.0', id, error: { code: noAnswer, message: '' } });
  };
  transport.send = async (message, options) => {
    const id = requestIdOf(message);
    if (id === undefined || options?.onRequestStreamEnd !== undefined) return send(message, options);
    const sent: Sent = { isStream: false };
    waiting.add(id);
    try {
      await sendNoting(sent, () => send(message, { ...options, onRequestStreamEnd: () => fail(id) }));
    } catch (error) {
      waiting.delete(id);
      throw error;
    }
    if (!sent.isStream) fail(id);
  };
  return (message) => {
    if (!('method' in message) && 'id' in message) waiting.delete(message.id as string | number);
  };
}

/** Returns a function that waits until the notices about canceled requests have been sent. */
export function trackCancellations(transport: Transport): () => Promise<void> {
  const pending = new Set<Promise<void>>();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const sent = send(message, options);
    if ('method' in message && message.method === 'notifications/cancelled') {
      const settled = sent.catch(() => undefined).finally(() => pending.delete(settled));
      pending.add(settled);
    }
    return sent;
  };
  return async () => {
    await Promise.all(pending);
  };
}

/** Our own code for a request without an answer, which no JSON-RPC error of a server means. */
export const noAnswer = -(2 ** 52);

function requestIdOf(message: JSONRPCMessage | JSONRPCMessage[]): string | number | undefined {
  return !Array.isArray(message) && 'method' in message && 'id' in message ? message.id : undefined;
}
