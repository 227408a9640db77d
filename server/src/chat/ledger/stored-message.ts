import { setImmediate } from 'node:timers/promises';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import { wordsOf } from '../../conversations/messages.ts';
import { encodeJson, isLargeJson } from '../../platform/json/json-pieces.ts';
import type { HistoryState } from '../model/reasoning-state.ts';
import { promptMessages, promptOf } from '../turn/prompt.ts';
import { estimateMessages } from '../turn/token-estimate.ts';

/** Parts with more characters than this yield to the event loop between processing steps. */
const longText = 512 * 1024;

/** The columns that follow from a message's parts; text, or its bytes in UTF-8 if it is long. */
export type StoredMessageColumns = {
  parts: string | Buffer;
  prompt: string | Buffer;
  promptTokens: number;
  words: string;
};

/** Makes the columns of a message, a large one in several turns of the event loop. */
export async function storeMessage(
  role: 'user' | 'assistant',
  parts: readonly MessagePart[],
  state?: HistoryState,
): Promise<StoredMessageColumns> {
  if (!isLargeJson(parts, longText)) {
    return { parts: JSON.stringify(parts), words: wordsOf(parts), ...promptOf(role, parts, state) };
  }
  const encoded = await encodeJson(parts);
  const words = wordsOf(parts);
  await setImmediate();
  const messages = promptMessages(role, parts, state);
  await setImmediate();
  const promptTokens = estimateMessages(messages);
  const array = await encodeJson(messages);
  return { parts: encoded, words, prompt: array.subarray(1, -1), promptTokens };
}
