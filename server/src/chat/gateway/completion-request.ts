import type { CompletionRequest, ProgramMessage } from '@homeport/contracts/catalogue/program-models';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import type { ToolDefinition } from '../model/protocol.ts';
import type { ChatMessage, ContentPart } from '../model/provider-messages.ts';

/** A program's request as all protocols take it. */
export type ProgramRequest = {
  messages: ChatMessage[];
  tools: ToolDefinition[];
  parameters: Parameters;
  /** Undefined: the model's maximum output. */
  maxOutputTokens: number | undefined;
};

export function programRequest(body: CompletionRequest): ProgramRequest {
  const { temperature, top_p: topP, seed, reasoning_effort: reasoningEffort, stop } = body;
  const tools = body.tool_choice === 'none' ? [] : (body.tools ?? []);
  const stops = typeof stop === 'string' ? [stop] : stop;
  return {
    messages: body.messages.map(toMessage),
    tools: tools.map(({ function: { name, description = '', parameters } }) => ({
      name,
      description,
      inputSchema: parameters ?? { type: 'object', properties: {} },
    })),
    parameters: {
      ...given('temperature', temperature),
      ...given('topP', topP),
      ...given('seed', seed),
      ...given('reasoningEffort', reasoningEffort),
      ...given('stop', stops),
    },
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
  };
}

function given<Name extends string, Value>(name: Name, value: Value | null | undefined): Partial<Record<Name, Value>> {
  return value === null || value === undefined ? {} : ({ [name]: value } as Record<Name, Value>);
}

function toMessage(message: ProgramMessage): ChatMessage {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: plain(message.content) };
    case 'user':
      return { role: 'user', content: message.content satisfies string | ContentPart[] };
    case 'tool':
      return { role: 'tool', tool_call_id: message.tool_call_id, content: plain(message.content) };
    case 'assistant': {
      const { content, tool_calls: calls } = message;
      const plainContent = content === null || content === undefined ? null : plain(content);
      const hasCalls = calls !== null && calls !== undefined && calls.length > 0;
      return { role: 'assistant', content: plainContent, ...(hasCalls ? { tool_calls: calls } : {}) };
    }
  }
}

function plain(content: string | { text: string }[]): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('\n\n');
}
