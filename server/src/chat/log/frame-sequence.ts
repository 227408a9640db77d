import type { Frame } from '@homeport/contracts/chat/frames';

/**
 * Frame of a response with its sequence numbers. A delta advances the number by its length in UTF-16 units, every other
 * frame by one, so adjacent deltas can be merged for storage and a follower that has part of one gets its remainder.
 * `to` is the number after the frame, sent as the SSE `id`.
 */
export type SequencedFrame = { from: number; to: number; frame: Frame };

export function advance(frame: Frame): number {
  const text = deltaText(frame);
  return text === undefined ? 1 : Math.max(1, text.length);
}

function deltaText(frame: Frame): string | undefined {
  if (frame.type === 'text-delta' || frame.type === 'reasoning-delta') return frame.delta;
  return frame.type === 'tool-input-delta' ? frame.inputTextDelta : undefined;
}

/** Appends an adjacent delta of the same part to `frame`; false if they do not match. */
export function extendDelta(frame: Frame, next: Frame): boolean {
  if (frame.type === 'text-delta' && next.type === 'text-delta' && frame.id === next.id) {
    frame.delta += next.delta;
    return true;
  }
  if (frame.type === 'reasoning-delta' && next.type === 'reasoning-delta' && frame.id === next.id) {
    frame.delta += next.delta;
    return true;
  }
  if (frame.type === 'tool-input-delta' && next.type === 'tool-input-delta' && frame.toolCallId === next.toolCallId) {
    frame.inputTextDelta += next.inputTextDelta;
    return true;
  }
  return false;
}

/**
 * Returns the part of the frame that a follower at `after` does not have: the frame, the remainder of a delta, or
 * nothing.
 */
export function unseen(entry: SequencedFrame, after: number): SequencedFrame | undefined {
  if (after <= entry.from) return entry;
  if (after >= entry.to) return undefined;
  const { frame } = entry;
  const skip = after - entry.from;
  if (frame.type === 'text-delta' || frame.type === 'reasoning-delta') {
    return { from: after, to: entry.to, frame: { ...frame, delta: frame.delta.slice(skip) } };
  }
  if (frame.type === 'tool-input-delta') {
    return { from: after, to: entry.to, frame: { ...frame, inputTextDelta: frame.inputTextDelta.slice(skip) } };
  }
  return entry;
}

/** Numbers frames that follow `after`. */
export function sequence(frames: readonly Frame[], after: number): SequencedFrame[] {
  let from = after;
  return frames.map((frame) => {
    const entry = { from, to: from + advance(frame), frame };
    from = entry.to;
    return entry;
  });
}

/** The frame as a server-sent event. Text deltas, thousands a second, are built by hand. */
export function toEvent(frame: Frame, to: number): string {
  const data =
    frame.type === 'text-delta'
      ? `{"type":"text-delta","id":${JSON.stringify(frame.id)},"delta":${JSON.stringify(frame.delta)}}`
      : JSON.stringify(frame);
  return `id: ${to}\ndata: ${data}\n\n`;
}

export const doneEvent = 'data: [DONE]\n\n';

/** Frames as stored: one JSON text per line. */
export function toLines(entries: readonly SequencedFrame[]): string {
  return entries.map((entry) => JSON.stringify(entry.frame)).join('\n');
}

/** Reads what `toLines` wrote; the text comes from our own table. */
export function parseLines(lines: string): Frame[] {
  return lines === '' ? [] : lines.split('\n').map(parseStoredFrame);
}

function parseStoredFrame(line: string): Frame {
  return JSON.parse(line) as Frame;
}
