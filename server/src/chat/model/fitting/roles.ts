import type { ChatMessage, ContentPart } from '../provider-messages.ts';

type AssistantMessage = Extract<ChatMessage, { role: 'assistant' }>;
type UserContent = Extract<ChatMessage, { role: 'user' }>['content'];

/** Stands between a tool result and a message of the person, where one must not follow the other. */
const acknowledgment: ChatMessage = { role: 'assistant', content: 'Understood.' };
const opening: ChatMessage = { role: 'user', content: '[The conversation begins.]' };
const continuation: ChatMessage = { role: 'user', content: 'Continue with these results.' };

/** Merges neighbors of the same role, which templates of many models refuse. Calls and their results stay apart. */
export function mergeNeighbors(messages: readonly ChatMessage[]): ChatMessage[] {
  const merged: ChatMessage[] = [];
  for (const message of messages) {
    const both = bothOf(merged.at(-1), message);
    if (both === undefined) merged.push(message);
    else merged[merged.length - 1] = both;
  }
  return merged;
}

function bothOf(first: ChatMessage | undefined, second: ChatMessage): ChatMessage | undefined {
  if (first?.role === 'user' && second.role === 'user') {
    return { role: 'user', content: joinContent(first.content, second.content) };
  }
  if (first?.role !== 'assistant' || second.role !== 'assistant') return undefined;
  if (first.tool_calls !== undefined) return undefined;
  const texts = [first.content, second.content].filter((text) => text !== null && text !== '');
  return { ...second, content: texts.length === 0 ? second.content : texts.join('\n\n') };
}

function joinContent(first: UserContent, second: UserContent): UserContent {
  if (typeof first === 'string' && typeof second === 'string') return `${first}\n\n${second}`;
  return [...partsOf(first), ...partsOf(second)];
}

function partsOf(content: UserContent): ContentPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** Puts a message of the person before an assistant that speaks first, after the instructions. */
export function beginWithUser(messages: readonly ChatMessage[]): ChatMessage[] {
  const first = messages.findIndex(({ role }) => role !== 'system');
  if (first < 1 || messages[first]?.role !== 'assistant') return [...messages];
  return [...messages.slice(0, first), opening, ...messages.slice(first)];
}

/** Puts a word of the assistant between tool results and the person's next message. */
export function separateResults(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.flatMap((message, at) =>
    message.role === 'user' && messages[at - 1]?.role === 'tool' ? [acknowledgment, message] : [message],
  );
}

/**
 * Calls and results as text of the assistant: a record, as it must not read like a request of the person. Used where
 * the request offers no tools, and servers therefore refuse messages about them.
 */
export function stepsAsText(
  messages: readonly ChatMessage[],
  isMeant: (message: AssistantMessage) => boolean,
): ChatMessage[] {
  const names = new Map<string, string>();
  const texts: ChatMessage[] = messages.map((message) => {
    if (message.role === 'tool') {
      const name = names.get(message.tool_call_id);
      if (name === undefined) return message;
      return { role: 'assistant', content: `[Result of the tool ${name}]\n${message.content}` };
    }
    if (message.role !== 'assistant' || message.tool_calls === undefined) return message;
    names.clear();
    if (!isMeant(message)) return message;
    for (const call of message.tool_calls) names.set(call.id, call.function.name);
    const calls = message.tool_calls.map(
      ({ function: called }) => `[Call of the tool ${called.name} with ${called.arguments}]`,
    );
    const text = message.content === null || message.content === '' ? [] : [message.content];
    return { role: 'assistant', content: [...text, ...calls].join('\n') };
  });
  const isLastResult = texts.at(-1)?.role === 'assistant' && messages.at(-1)?.role === 'tool';
  return isLastResult ? [...texts, continuation] : texts;
}
