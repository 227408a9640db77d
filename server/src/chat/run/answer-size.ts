import type { Frame, MessagePart } from '@homeport/contracts/chat/frames';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';

/** A full answer that is continued counts as full again, though its deltas have become one part. */
const slackBytes = 4096;

/** The bytes of one answer as it is stored, up to the largest that is kept. */
export class AnswerSize {
  #left: number;

  constructor(most: number = limits.answerBytes) {
    this.#left = most;
  }

  get isFull(): boolean {
    return this.#left <= slackBytes;
  }

  /** Counts the parts that a continued answer already has. */
  add(parts: readonly MessagePart[]): void {
    for (const part of parts) this.#left -= bytesOf(part);
  }

  /** The frame as far as it fits: a delta is cut. Undefined for a delta of a full answer. */
  take(frame: Frame): Frame | undefined {
    if (frame.type === 'text-delta' || frame.type === 'reasoning-delta') {
      const delta = this.#takeText(frame.delta);
      return delta === undefined ? undefined : { ...frame, delta };
    }
    if (frame.type === 'tool-input-delta') {
      const inputTextDelta = this.#takeText(frame.inputTextDelta);
      return inputTextDelta === undefined ? undefined : { ...frame, inputTextDelta };
    }
    // Bounded by the tools that made them, so the last one may exceed the limit.
    if (frame.type === 'tool-output-available') this.#left -= bytesOf(frame.output);
    else if (frame.type === 'file') this.#left -= frame.url.length;
    return frame;
  }

  #takeText(text: string): string | undefined {
    if (this.isFull) return undefined;
    const bytes = bytesOf(text);
    const fitting = bytes <= this.#left ? text : cutToBytes(text, this.#left);
    this.#left -= bytes;
    return fitting;
  }
}

export function answerTooLong(): ApiError {
  const megabytes = limits.answerBytes / 1024 ** 2;
  return new ApiError(
    'answer_too_long',
    `The answer reached ${megabytes} MB, the most that one answer may have. All of it up to here is kept. Ask for the rest in a new message.`,
  );
}

/** As JSON in UTF-8. */
function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

function cutToBytes(text: string, most: number): string {
  let cut = text;
  for (let bytes = bytesOf(cut); bytes > most && cut !== ''; bytes = bytesOf(cut)) {
    cut = cut.slice(0, Math.min(cut.length - 1, Math.floor((cut.length * most) / bytes)));
  }
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}
