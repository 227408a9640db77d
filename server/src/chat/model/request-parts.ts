import type { ModelRequest } from './protocol.ts';
import type { ChatMessage } from './provider-messages.ts';
import { isRecord } from './stream/storable-text.ts';

/** Helpers shared by the request writers of all protocols. */

const systemStart = '{"role":"system"';

/** True if the request begins with instructions. */
export function hasInstructions({ history, messages }: ModelRequest): boolean {
  return messages[0]?.role === 'system' || history?.startsWith(systemStart) === true;
}

/** Takes the instructions out of the messages, as one text. */
export function splitInstructions(messages: readonly ChatMessage[]): { system: string; rest: ChatMessage[] } {
  const texts: string[] = [];
  const rest: ChatMessage[] = [];
  for (const message of messages) {
    if (message.role === 'system') texts.push(message.content);
    else rest.push(message);
  }
  return { system: texts.filter((text) => text !== '').join('\n\n'), rest };
}

/** The messages with these instructions before the first user message's text, for models without a system role. */
export function withInstructionsAsText(system: string, messages: readonly ChatMessage[]): ChatMessage[] {
  if (system === '') return [...messages];
  const at = messages.findIndex((message) => message.role === 'user');
  const first = messages[at];
  if (first?.role !== 'user') return [{ role: 'user', content: system }, ...messages];
  const content: typeof first.content =
    typeof first.content === 'string'
      ? `${system}\n\n${first.content}`
      : [{ type: 'text', text: system }, ...first.content];
  return messages.with(at, { role: 'user', content });
}

/** JSON texts of messages as `ModelRequest.history` holds them; the text is our own. */
export function parseHistory(history: string | undefined): ChatMessage[] {
  return JSON.parse(`[${history ?? ''}]`) as ChatMessage[];
}

export type InlineData = { mediaType: string; data: string };

/** The media type and Base64 text of a `data:` URL; undefined for any other address. */
export function inlineData(url: string): InlineData | undefined {
  const comma = url.indexOf(',');
  const head = /^data:([\w.+-]{1,127}\/[\w.+-]{1,127})(;[^,]{1,200})?;base64$/i.exec(
    url.slice(0, Math.min(comma, 512)),
  );
  const mediaType = head?.[1]?.toLowerCase();
  return mediaType === undefined ? undefined : { mediaType, data: url.slice(comma + 1) };
}

/** Parses the arguments of a call as an object; anything else becomes an empty object. */
export function argumentsObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** Caches the latest result for a text: the history is the same for all requests of a turn. */
export function rememberLast<Result>(work: (text: string) => Result): (text: string) => Result {
  let last: { text: string; result: Result } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, result: work(text) };
    return last.result;
  };
}
