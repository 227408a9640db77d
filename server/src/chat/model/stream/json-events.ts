import { createParser } from 'eventsource-parser';
import { parseForeignJson } from '../../../platform/json/json-scan.ts';
import { streamedError, unreadableAnswer } from '../failures/provider-errors.ts';
import { errorIn } from './answer-errors.ts';
import { isRecord } from './storable-text.ts';

/** The longest error in plain text, in UTF-16 units. */
const maxWords = 2_000;

/** Receiver of the events of a stream. `line` is the JSON text of the event; `done` is called for `[DONE]`. */
type EventSink = { event(event: Record<string, unknown>, line: string): void; done?(): void };

/**
 * Reads an event stream whose events are JSON objects. An event without a `type` gets its name as one. Throws ApiError
 * for an error in place of an event.
 */
export function createJsonEvents(maxEventLength: number, sink: EventSink): (text: string) => void {
  const events = createParser({
    maxBufferSize: maxEventLength,
    onEvent: ({ data, event: name }) =>
      readPayload(data, name, {
        event: (event, line) => sink.event(withType(event, name), line),
        done: () => sink.done?.(),
      }),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw unreadableAnswer('answer');
    },
  });
  return (text) => events.feed(text);
}

/**
 * Reads the data of one event, or of several ones that a server ended with a single line break. Pings and empty events
 * are skipped.
 */
export function readPayload(data: string, name: string | undefined, sink: EventSink): void {
  const payload = data.trim();
  if (payload === '[DONE]') sink.done?.();
  if (payload === '' || payload === 'null' || payload === '[DONE]') return;
  const event = parseJson(payload);
  if (isRecord(event)) {
    const error = errorIn(event) ?? (name === 'error' ? event : undefined);
    if (error !== undefined) throw streamedError(error);
    sink.event(event, data);
  } else if (name === 'error') {
    throw streamedError(event ?? payload);
  } else if (event === undefined && payload.includes('\n')) {
    for (const line of payload.split('\n')) readPayload(line, name, sink);
  } else if (!isPing(payload, name)) {
    if (event !== undefined || payload.length > maxWords || /^["[{]/.test(payload)) throw unreadableAnswer('answer');
    throw streamedError(payload);
  }
}

/** Pings are comments or empty events in the standard; some servers name them, or send them as a word. */
function isPing(payload: string, name = 'message'): boolean {
  return name !== 'message' || /^[:\s]{0,4}(?:ping|keep-?alive|heartbeat)?$/i.test(payload);
}

function withType(event: Record<string, unknown>, name: string | undefined): Record<string, unknown> {
  return event.type !== undefined || name === undefined || name === 'message' ? event : { ...event, type: name };
}

/** Undefined if it is not JSON; the reason is not kept because it quotes the text. */
export function parseJson(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch {
    return undefined;
  }
}
