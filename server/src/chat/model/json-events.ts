import { createParser } from 'eventsource-parser';
import { parseForeignJson } from '../../json-scan.ts';
import { createEventShape } from './event-shape.ts';
import { unreadableAnswer } from './provider-errors.ts';
import { isRecord } from './storable-text.ts';

/** Characters in which examples are looked for, for each that arrived: thousands of events may arrive at once. */
const searchedPerReceived = 8;

/**
 * Reads an event stream whose events are JSON objects; `[DONE]` and empty events are skipped. `onEvent` may get the
 * same object again with other values: it keeps neither it nor what is in it.
 */
export function createJsonEvents(
  maxEventLength: number,
  onEvent: (event: Record<string, unknown>) => void,
): (text: string) => void {
  const shape = createEventShape(onEvent);
  let fed = '';
  let isBetweenEvents = true;
  let received = 0;
  let searched = 0;
  const findRaw = (data: string, name: string | undefined): string | undefined => {
    if (searched > received * searchedPerReceived) return undefined;
    searched += fed.length * 2;
    const raws = ['\n', '\r\n'].map(
      (lineEnd) => `${name === undefined ? '' : `event: ${name}${lineEnd}`}data: ${data}${lineEnd}${lineEnd}`,
    );
    return raws.find((raw) => fed.includes(raw));
  };
  const read = (data: string, name?: string): void => {
    const payload = data.trim();
    if (payload === '' || payload === '[DONE]') return;
    const event = parseJson(payload);
    if (isRecord(event)) {
      onEvent(event);
      shape.learn(event, () => findRaw(data, name));
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
    received += text.length;
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
