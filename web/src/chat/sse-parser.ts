/** One server-sent event, as far as the response stream uses them. */
export type ServerSentEvent = { id: string | undefined; data: string };

/** Characters of one event; the largest frame carries a tool's output. */
const maximumEvent = 16 * 1024 * 1024;

/**
 * Reads server-sent events out of text that arrives in any pieces (HTML standard, "Parsing an event stream"): LF, CRLF
 * and CR ends, comments, several data lines. An event that never ends throws a RangeError instead of filling memory.
 */
export class SseParser {
  #rest = '';
  #endedWithCr = false;
  #id: string | undefined;
  #data: string[] = [];
  #size = 0;

  push(chunk: string): ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    let text = this.#rest + (this.#endedWithCr && chunk.startsWith('\n') ? chunk.slice(1) : chunk);
    if (chunk !== '') this.#endedWithCr = chunk.endsWith('\r');
    for (let end = text.search(/[\r\n]/); end !== -1; end = text.search(/[\r\n]/)) {
      const line = text.slice(0, end);
      text = text.slice(text.startsWith('\r\n', end) ? end + 2 : end + 1);
      this.#line(line, events);
    }
    this.#rest = text;
    if (this.#size + text.length > maximumEvent) throw new RangeError('A server-sent event is too large');
    return events;
  }

  #line(line: string, events: ServerSentEvent[]): void {
    if (line === '') {
      if (this.#data.length > 0) events.push({ id: this.#id, data: this.#data.join('\n') });
      this.#data = [];
      this.#size = 0;
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') {
      this.#data.push(value);
      this.#size += value.length;
    } else if (field === 'id' && !value.includes('\0')) {
      this.#id = value;
    }
  }
}
