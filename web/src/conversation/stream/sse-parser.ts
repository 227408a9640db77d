/** One server-sent event, as far as the response stream uses them. */
export type ServerSentEvent = { id: string | undefined; data: string };

/** Characters of one event; the largest frame carries a tool's output. */
const maximumEvent = 16 * 1024 * 1024;

/**
 * Reads server-sent events out of text that arrives in any pieces (HTML standard, "Parsing an event stream"): LF, CRLF
 * and CR ends, comments, several data lines. An event that never ends throws a RangeError instead of filling memory.
 */
export class SseParser {
  /** The incomplete line in its pieces: a long line is joined once, not with each piece. */
  #pieces: string[] = [];
  #waiting = 0;
  #endedWithCr = false;
  #id: string | undefined;
  #data: string[] = [];
  #size = 0;

  push(chunk: string): ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    const fresh = this.#endedWithCr && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    if (chunk !== '') this.#endedWithCr = chunk.endsWith('\r');
    if (/[\r\n]/.test(fresh)) {
      const lines = (this.#pieces.join('') + fresh).split(/\r\n?|\n/);
      this.#pieces = [lines.pop() ?? ''];
      this.#waiting = this.#pieces[0]?.length ?? 0;
      for (const line of lines) this.#line(line, events);
    } else if (fresh !== '') {
      this.#pieces.push(fresh);
      this.#waiting += fresh.length;
    }
    if (this.#size + this.#waiting > maximumEvent) throw new RangeError('A server-sent event is too large');
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
