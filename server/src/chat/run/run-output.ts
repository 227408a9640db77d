import { isDeepStrictEqual } from 'node:util';
import type { Frame, MessagePart } from '@homeport/contracts/chat/frames';
import { createMessageAssembler, type MessageAssembler } from '@homeport/contracts/chat/message-assembly';
import { framesOfParts, framesWithOpenText } from '@homeport/contracts/chat/part-frames';
import type { ApiError } from '@homeport/contracts/errors';
import { ResponseLog } from '../log/response-log.ts';
import type { Notice } from '../tools/find-tools.ts';
import type { ContinuedText } from '../turn/step-writer.ts';
import { AnswerSize } from './answer-size.ts';

/** The frames of a run, up to the largest answer. */
export class RunOutput {
  readonly log: ResponseLog;
  /** Resolves at the answer's first frame (undefined), or with the failure that came before it. */
  readonly begun: Promise<ApiError | undefined>;
  readonly #onFull: () => void;
  #settle: (failure: ApiError | undefined) => void = () => undefined;
  #hasBegun = false;
  #isClosed = false;
  /** How many steps the log has. */
  #steps = 0;
  /** The text at the end of a continued response, until its part is closed. */
  #openText: ContinuedText | undefined;
  readonly #notices: Frame[] = [];
  readonly #size = new AnswerSize();

  /** `onFull` is called when the largest answer is reached. */
  constructor(firstSeq: number, onFull: () => void) {
    this.log = new ResponseLog(firstSeq);
    this.#onFull = onFull;
    this.begun = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get steps(): number {
    return this.#steps;
  }

  get openText(): ContinuedText | undefined {
    return this.#openText;
  }

  /** True once no frame of the answer follows. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  emit(frame: Frame): void {
    // A tool that was abandoned can still emit frames.
    const fitting = this.#isClosed ? undefined : this.#size.take(frame);
    if (fitting !== undefined) this.#append(fitting);
    if (this.#size.isFull) this.#onFull();
  }

  /** Sent with the next frame: a failure before the first one is an HTTP error. */
  notify(notice: Notice): void {
    const frame: Frame = { type: 'data-notice', data: notice };
    if (this.#hasBegun) this.emit(frame);
    // A turn can be prepared once more before its first frame.
    else if (!this.#notices.some((noticed) => isDeepStrictEqual(noticed, frame))) this.#notices.push(frame);
  }

  /** Begins with the parts of a continued response. `extendsText`: the text at their end is continued in its own part. */
  replay(parts: readonly MessagePart[], extendsText: boolean): void {
    this.#size.add(parts);
    const continued = extendsText ? framesWithOpenText(parts) : undefined;
    this.#openText = continued?.open;
    for (const frame of continued?.frames ?? framesOfParts(parts)) this.#append(frame);
    if (this.#size.isFull) this.#onFull();
  }

  /** Closes the text that was continued, and drops later frames. */
  close(): void {
    if (this.#openText !== undefined) this.#append({ type: 'text-end', id: this.#openText.id });
    this.#isClosed = true;
  }

  /** The answer ends without a frame, with the failure if there was one. */
  settle(failure: ApiError | undefined): void {
    this.#settle(failure);
  }

  /** Assembled from the log on demand, not at every token. */
  assembled(): MessageAssembler {
    const assembler = createMessageAssembler();
    for (const frame of this.log.frames()) assembler.apply(frame);
    return assembler;
  }

  parts(): MessagePart[] {
    return this.assembled().parts;
  }

  #append(frame: Frame): void {
    if (frame.type !== 'start' && this.#notices.length > 0) {
      for (const notice of this.#notices.splice(0)) this.log.append(notice);
    }
    if (frame.type === 'start-step' || frame.type === 'data-continued') this.#steps++;
    if (frame.type === 'text-end' && frame.id === this.#openText?.id) this.#openText = undefined;
    this.log.append(frame);
    if (frame.type === 'start' || frame.type === 'start-step') return;
    this.#hasBegun = true;
    this.#settle(undefined);
  }
}
