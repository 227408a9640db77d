import type { Message } from '@homeport/contracts/conversations';
import type { Frame } from '@homeport/contracts/frames';
import { createMessageAssembler } from '@homeport/contracts/message-assembly';

type Identity = Pick<Message, 'id' | 'chatId' | 'parentId' | 'siblingIds' | 'createdAt'>;

/** An assistant message while its stream arrives. */
export class LiveMessage {
  readonly id: string;
  readonly #identity: Identity;
  readonly #assembler = createMessageAssembler();
  #status: Message['status'] = 'streaming';

  constructor(identity: Identity) {
    this.id = identity.id;
    this.#identity = identity;
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
    };
  }
}
