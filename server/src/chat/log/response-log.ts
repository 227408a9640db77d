import type { Frame } from '@homeport/contracts/chat/frames';
import {
  advance,
  doneEvent,
  extendDelta,
  type SequencedFrame,
  sequence,
  toEvent,
  toLines,
  unseen,
} from './frame-sequence.ts';

/** Receiver for the events of a response. */
export type FollowerSink = { write(events: string): void; end(events: string): void };

/** Frames since the last write, as one row of `response_frames`. */
export type PendingRow = { seqFrom: number; seqTo: number; frames: string };

/**
 * The frames of one running response: sent to local followers at once, kept for later ones, and passed on in batches to
 * be stored. Deltas are merged until their batch is taken.
 */
export class ResponseLog {
  readonly #entries: SequencedFrame[] = [];
  readonly #followers = new Set<FollowerSink>();
  /** The latest preliminary output of each running tool call: a later one replaces it for those who join. */
  readonly #preliminary = new Map<string, SequencedFrame>();
  #seq: number;
  #stored = 0;
  #ended = false;
  #isCut = false;
  /** The frames sent to followers at the end; they are stored with the end, not with the others. */
  #endFrames: SequencedFrame[] = [];

  /** `firstSeq` continues the numbers of an earlier generation of the same response. */
  constructor(firstSeq: number) {
    this.#seq = firstSeq;
  }

  get seq(): number {
    return this.#seq;
  }

  /** True once this replica no longer knows how the response ends: followers ask the database. */
  get isCut(): boolean {
    return this.#isCut;
  }

  get hasPending(): boolean {
    return this.#stored < this.#entries.length;
  }

  append(frame: Frame): void {
    if (this.#ended) return;
    const from = this.#seq;
    this.#seq = from + advance(frame);
    const last = this.#entries.length - 1;
    const open = last >= this.#stored ? this.#entries[last] : undefined;
    if (open !== undefined && extendDelta(open.frame, frame)) open.to = this.#seq;
    // A copy, because the log keeps extending it.
    else this.#push({ from, to: this.#seq, frame: { ...frame } });
    if (this.#followers.size === 0) return;
    const event = toEvent(frame, this.#seq);
    for (const follower of this.#followers) follower.write(event);
  }

  #push(entry: SequencedFrame): void {
    this.#entries.push(entry);
    const { frame } = entry;
    if (frame.type !== 'tool-output-available' && frame.type !== 'tool-output-error') return;
    const older = this.#preliminary.get(frame.toolCallId);
    // It keeps its number, but its text is dropped and no longer sent.
    if (older?.frame.type === 'tool-output-available') older.frame = { ...older.frame, output: superseded };
    this.#preliminary.delete(frame.toolCallId);
    if (isPreliminary(frame)) this.#preliminary.set(frame.toolCallId, entry);
  }

  /** Sends everything after `after`, then all later frames. Returns a function that stops following. */
  follow(sink: FollowerSink, after: number): () => void {
    const events = this.eventsAfter(after);
    if (this.#ended) {
      sink.end(events + doneEvent);
      return () => undefined;
    }
    if (events !== '') sink.write(events);
    this.#followers.add(sink);
    return () => this.#followers.delete(sink);
  }

  eventsAfter(after: number): string {
    let events = '';
    for (const entry of [...this.#entries, ...this.#endFrames]) {
      const rest = unseen(entry, after);
      if (rest !== undefined && !isSuperseded(rest.frame)) events += toEvent(rest.frame, rest.to);
    }
    return events;
  }

  /** All frames so far, deltas merged. */
  frames(): Frame[] {
    return this.#entries.map((entry) => entry.frame);
  }

  /** Takes what is not stored yet; `restore` puts it back if the write failed. */
  takePending(): PendingRow | undefined {
    const batch = this.#entries.slice(this.#stored);
    const first = batch[0];
    if (first === undefined) return undefined;
    this.#stored = this.#entries.length;
    return { seqFrom: first.from, seqTo: this.#seq, frames: toLines(batch) };
  }

  restore(row: PendingRow): void {
    // Searched from the end, because unstored frames are the newest.
    const index = this.#entries.findLastIndex((entry) => entry.from < row.seqFrom) + 1;
    this.#stored = Math.min(this.#stored, index);
  }

  /** Ends all followers with these frames and `[DONE]`; later frames are dropped. */
  end(frames: readonly Frame[]): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#endFrames = sequence(frames, this.#seq);
    const events = this.#endFrames.map(({ frame, to }) => toEvent(frame, to)).join('') + doneEvent;
    for (const follower of this.#followers) follower.end(events);
    this.#followers.clear();
  }

  /** Disconnects all followers without `[DONE]`, so that they reconnect elsewhere. */
  cut(): void {
    this.#isCut ||= !this.#ended;
    this.#ended = true;
    for (const follower of this.#followers) follower.end('');
    this.#followers.clear();
  }
}

const superseded = '';

function isPreliminary(frame: Frame): boolean {
  return frame.type === 'tool-output-available' && frame.preliminary === true;
}

function isSuperseded(frame: Frame): boolean {
  return frame.type === 'tool-output-available' && frame.preliminary === true && frame.output === superseded;
}
