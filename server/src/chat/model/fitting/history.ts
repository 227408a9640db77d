import type { ModelRequest } from '../protocol.ts';
import { parseHistory } from '../request-parts.ts';

/** The names of the tools that a request's messages call, in their order. */
export function calledNames({ history, messages }: ModelRequest): string[] {
  const earlier = history?.includes('"tool_calls"') === true ? parseHistory(history) : [];
  return [...earlier, ...messages].flatMap((message) =>
    message.role === 'assistant' ? (message.tool_calls ?? []).map((call) => call.function.name) : [],
  );
}
