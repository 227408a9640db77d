import { createParser } from 'eventsource-parser';
import { parseForeignJson } from '../../../platform/json/json-scan.ts';
import { unreadableAnswer } from '../failures/provider-errors.ts';
import { isRecord } from './storable-text.ts';

/** Reads an event stream whose events are JSON objects; `[DONE]` and empty events are skipped. */
export function createJsonEvents(
  maxEventLength: number,
  onEvent: (event: Record<string, unknown>) => void,
): (text: string) => void {
  const read = (data: string): void => {
    const payload = data.trim();
    if (payload === '' || payload === '[DONE]') return;
    const event = parseJson(payload);
    if (isRecord(event)) {
      onEvent(event);
      return;
    }
    // A server that ends events with a single line break makes several of them one event.
    if (event !== undefined || !payload.includes('\n')) throw unreadableAnswer('answer');
    for (const line of payload.split('\n')) read(line);
  };
  const events = createParser({
    maxBufferSize: maxEventLength,
    onEvent: (event) => read(event.data),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw unreadableAnswer('answer');
    },
  });
  return (text) => events.feed(text);
}

/** Undefined if it is not JSON; the reason is not kept because it quotes the text. */
export function parseJson(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch {
    return undefined;
  }
}
