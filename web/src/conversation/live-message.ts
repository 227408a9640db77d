import type { Message } from '@homeport/contracts/chat/conversations';
import type { Frame } from '@homeport/contracts/chat/frames';
import { createMessageAssembler } from '@homeport/contracts/chat/message-assembly';

type Identity = Pick<Message, 'id' | 'chatId' | 'parentId' | 'siblingIds' | 'createdAt'>;

/** Milliseconds that a stream has to bring what is shown already; then what it brought is shown. */
const catchUpMs = 1000;

/** An assistant message while its stream arrives. */
export class LiveMessage {
  readonly id: string;
  readonly #identity: Identity;
  readonly #assembler = createMessageAssembler();
  readonly #begunAt = performance.now();
  #status: Message['status'] = 'streaming';
  /** How much the page shows of it, as after a reload. */
  #shown: number;

  constructor(identity: Identity, shown: Message['parts']) {
    this.id = identity.id;
    this.#identity = identity;
    this.#shown = extentOf(shown);
  }

  /**
   * True until a restarted stream has caught up with the shown content, so that text and buttons don't disappear
   * meanwhile.
   */
  isBehind(): boolean {
    if (this.#shown === 0) return false;
    const isOver = this.#status !== 'streaming' || performance.now() - this.#begunAt > catchUpMs;
    if (isOver || extentOf(this.#assembler.parts) >= this.#shown) this.#shown = 0;
    return this.#shown > 0;
  }

  apply(frame: Frame): void {
    this.#assembler.apply(frame);
    if (frame.type === 'finish')
      this.#status = frame.messageMetadata?.status ?? (frame.finishReason === 'error' ? 'failed' : 'complete');
    if (frame.type === 'abort') this.#status = 'stopped';
    if (frame.type === 'error') this.#status = 'failed';
  }

  /** The message as far as it has come; a new object each time, whose unchanged parts are the same objects. */
  view(): Message {
    const { parts, metadata, errorText } = this.#assembler;
    const error =
      metadata?.error ?? (errorText === undefined ? undefined : { code: 'provider_error', message: errorText });
    return {
      ...this.#identity,
      role: 'assistant',
      parts,
      status: this.#status,
      createdAt: metadata?.createdAt ?? this.#identity.createdAt,
      ...(metadata?.modelId === undefined ? {} : { modelId: metadata.modelId }),
      ...(metadata?.assistant === undefined ? {} : { assistant: metadata.assistant }),
      ...(metadata?.usage === undefined ? {} : { usage: metadata.usage }),
      ...(error === undefined ? {} : { error }),
      finishReason: metadata?.finishReason ?? null,
      finishDetail: metadata?.finishDetail ?? null,
    };
  }
}

/** Size of the visible content: texts, and the JSON of other parts. */
function extentOf(parts: Message['parts']): number {
  let extent = 0;
  for (const part of parts) {
    if (part.type === 'text' || part.type === 'reasoning') extent += part.text.length;
    else if (part.type !== 'step-start') extent += JSON.stringify(part).length;
  }
  return extent;
}
