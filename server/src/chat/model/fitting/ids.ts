import { createHash } from 'node:crypto';
import type { ChatMessage } from '../provider-messages.ts';
import type { RequestShape } from './shape.ts';

/** Ids of the tool calls of a request so far. */
export type UsedIds = Set<string>;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** The length that Mistral demands; short enough for all others. */
const nineLength = 9;

/**
 * Gives the calls ids in the server's form, each one unique in the request, and their results the same ids. The same
 * messages always get the same ids, so that a provider's cache holds. Results without a call are left out.
 */
export function fitIds(
  messages: readonly ChatMessage[],
  shape: Pick<RequestShape, 'ids' | 'maxIdLength'>,
  used: UsedIds,
): ChatMessage[] {
  let open = new Map<string, string>();
  return messages.flatMap((message): ChatMessage[] => {
    if (message.role === 'tool') {
      const id = open.get(message.tool_call_id);
      if (id === undefined) return [];
      open.delete(message.tool_call_id);
      return [id === message.tool_call_id ? message : { ...message, tool_call_id: id }];
    }
    if (message.role !== 'assistant' || message.tool_calls === undefined) return [message];
    open = new Map();
    const calls = message.tool_calls.map((call) => {
      const id = uniqueId(call.id, shape, used);
      open.set(call.id, id);
      return id === call.id ? call : { ...call, id };
    });
    return [calls.every((call, at) => call === message.tool_calls?.[at]) ? message : { ...message, tool_calls: calls }];
  });
}

function uniqueId(
  given: string,
  { ids, maxIdLength }: Pick<RequestShape, 'ids' | 'maxIdLength'>,
  used: UsedIds,
): string {
  const isNine = ids === 'nine';
  const written = ids === 'word' ? given.replace(/[^\w-]/g, '_') : given;
  const fits = isNine ? /^[a-zA-Z0-9]{9}$/.test(given) : written.length > 0 && written.length <= maxIdLength;
  let id = fits ? written : shortId(given);
  for (let again = 2; used.has(id); again++) id = shortId(`${given}#${again}`);
  used.add(id);
  return id;
}

/** Nine letters and digits made from an id. */
function shortId(text: string): string {
  const bytes = createHash('sha256').update(text).digest();
  return Array.from(bytes.subarray(0, nineLength), (byte) => alphabet[byte % alphabet.length]).join('');
}
