import type { QueuedInput } from '@homeport/contracts/chat/conversations';
import { call } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';
import type { ConversationStore } from './conversation-store.ts';

/**
 * Has a queued message delivered as soon as the running step is over. Resolves with why it could not be; when it is
 * merely too late, the message is on its way already.
 */
export async function sendQueuedNow(store: ConversationStore, inputId: string): Promise<unknown> {
  try {
    const body = { chatId: store.chatId, id: inputId, steer: true } as const;
    store.replaceQueued((await call('PATCH /api/chat/turn-inputs', { body })).input);
    return undefined;
  } catch (error) {
    store.follow();
    return error instanceof ApiFailure && error.code === 'input_applied' ? undefined : error;
  }
}

/** The queued input that this message became. */
export function inputOf(inputs: readonly QueuedInput[], messageId: string): QueuedInput | undefined {
  return inputs.find(({ message }) => message.id === messageId);
}
