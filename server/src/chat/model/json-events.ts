import { createParser } from 'eventsource-parser';
import { parseForeignJson } from '../../json-scan.ts';
import { createEventShape } from './event-shape.ts';
import { unreadableAnswer } from './provider-errors.ts';
import { isRecord } from './storable-text.ts';

/**
 * Reads an event stream whose events are JSON objects; `[DONE]` and empty events are skipped. `onEvent` may get the same object again
 * with other values: it keeps neither it nor what is in it.
 */
export function createJsonEvents(
  maxEventLength: number,
  onEvent: (event: Record<string, unknown>) => void,
): (text: string) => void {
  const shape = createEventShape(onEvent);
  let fed = '';
  let isBetweenEvents = true;
  const learn = (data: string, name: string | undefined, event: Record<string, unknown>): void => {
    for (const lineEnd of ['\n', '\r\n']) {
      const raw = `${name === undefined ? '' : `event: ${name}${lineEnd}`}data: ${data}${lineEnd}${lineEnd}`;
      if (fed.includes(raw)) shape.learn(raw, event);
    }
  };
  const read = (data: string, name?: string): void => {
    const payload = data.trim();
    if (payload === '' || payload === '[DONE]') return;
    const event = parseJson(payload);
    if (isRecord(event)) {
      onEvent(event);
      learn(data, name, event);
      return;
    }
    // A server that ends events with a single line break makes several of them one event.
    if (event !== undefined || !payload.includes('\n')) throw unreadableAnswer('answer');
    for (const line of payload.split('\n')) read(line);
  };
  const events = createParser({
    maxBufferSize: maxEventLength,
    onEvent: (event) => read(event.data, event.event),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw unreadableAnswer('answer');
    },
  });
  return (text) => {
    const known = isBetweenEvents ? shape.read(text) : 0;
    if (known === text.length) return;
    fed = known === 0 ? text : text.slice(known);
    events.feed(fed);
    isBetweenEvents = fed.endsWith('\n\n') || fed.endsWith('\r\n\r\n');
  };
}

/** Undefined if it is not JSON; the reason is not kept because it quotes the text. */
export function parseJson(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch {
    return undefined;
  }
}
