import type { AnswerFormat, ToolChoice } from '../../model/demands.ts';
import type { ContentPart } from '../../model/provider-messages.ts';
import { isRecord } from '../../model/stream/storable-text.ts';
import {
  type GatewayMessage,
  type GatewayRequest,
  given,
  refuseMembers,
  unsupportedMember,
  type Validate,
} from '../gateway-request.ts';
import { assertAllowed, assertResults, assertTools } from '../message-rules.ts';
import { assertDocument, assertPicture } from '../pictures.ts';
import { type ChatBody, type ChatRequestMessage, chatBody } from './schema.ts';

/** A request of chat completions, in our terms, and how its answer is wanted. */
export type ParsedChat = {
  model: string;
  request: GatewayRequest;
  isStreamed: boolean;
  hasUsage: boolean;
};

/** Members that would change the answer, and that no provider behind this can honor. */
const refused = [
  ...['logprobs', 'top_logprobs', 'audio', 'functions', 'function_call', 'store', 'logit_bias'],
  ...['top_k', 'min_p', 'guided_json'],
];

/** Reads the body of a chat completion. Throws `invalid_request` with the path of the member. */
export function parseChat(body: Record<string, unknown>, validate: Validate): ParsedChat {
  refuseMembers(body, refused);
  // Even an empty one asks for a search.
  if (isRecord(body.web_search_options)) throw unsupportedMember('web_search_options');
  if (Array.isArray(body.modalities) && body.modalities.some((each) => each !== 'text')) {
    throw unsupportedMember('modalities');
  }
  const asked = validate(chatBody, body);
  if ((asked.n ?? 1) > 1) throw unsupportedMember('n', 'Only one answer is made');
  const messages = asked.messages.map((message, index) => toMessage(message, `messages.${index}`));
  assertResults(messages, (index) => `messages.${index}`);
  const allowed = allowedNames(asked.tool_choice);
  const offered = (asked.tools ?? []).filter((tool) => allowed?.has(tool.function.name) !== false);
  assertAllowed(
    allowed,
    offered.map((tool) => tool.function.name),
  );
  const tools = offered.map(({ function: { name, description, parameters } }) => ({
    name,
    description: description ?? '',
    inputSchema: parameters ?? { type: 'object', properties: {} },
  }));
  const toolChoice = toolChoiceOf(asked.tool_choice);
  assertTools(tools, toolChoice, { tools: 'tools', choice: 'tool_choice' });
  const stop = typeof asked.stop === 'string' ? [asked.stop] : asked.stop;
  return {
    model: asked.model ?? 'default',
    isStreamed: asked.stream === true,
    hasUsage: asked.stream_options?.include_usage === true,
    request: {
      messages,
      tools,
      maxOutputTokens: asked.max_completion_tokens ?? asked.max_tokens ?? undefined,
      parameters: given({
        temperature: asked.temperature,
        topP: asked.top_p,
        seed: asked.seed,
        stop: stop?.length === 0 ? undefined : stop,
        reasoningEffort: asked.reasoning_effort,
        verbosity: asked.verbosity,
      }),
      demands: given({
        toolChoice: tools.length === 0 ? undefined : toolChoice,
        parallelTools: tools.length === 0 ? undefined : asked.parallel_tool_calls,
        format: formatOf(asked.response_format),
        frequencyPenalty: asked.frequency_penalty,
        presencePenalty: asked.presence_penalty,
      }),
    },
  };
}

function toolChoiceOf(choice: ChatBody['tool_choice']): ToolChoice | undefined {
  if (choice === null || choice === undefined) return undefined;
  if (typeof choice === 'string') return choice;
  return choice.type === 'allowed_tools' ? choice.allowed_tools.mode : { name: choice.function.name };
}

function allowedNames(choice: ChatBody['tool_choice']): Set<string> | undefined {
  if (choice === null || typeof choice !== 'object' || choice.type !== 'allowed_tools') return undefined;
  return new Set(choice.allowed_tools.tools.map((tool) => tool.function.name));
}

function formatOf(format: ChatBody['response_format']): AnswerFormat | undefined {
  if (format === null || format === undefined || format.type === 'text') return undefined;
  return format.type === 'json_object' ? { type: 'json' } : schemaFormatOf(format.json_schema);
}

/** A schema of any front protocol. */
export function schemaFormatOf({
  name,
  description,
  schema,
  strict,
}: {
  name: string;
  description?: string | null | undefined;
  schema: Record<string, unknown>;
  strict?: boolean | null | undefined;
}): AnswerFormat {
  return { type: 'schema', name, schema, ...given({ description, strict }) };
}

function toMessage(message: ChatRequestMessage, path: string): GatewayMessage {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: plain(message.content) };
    case 'user':
      return { role: 'user', content: userContent(message.content, `${path}.content`) };
    case 'tool':
      return { role: 'tool', tool_call_id: message.tool_call_id, content: plain(message.content) };
    case 'assistant':
      return assistantMessage(message);
  }
}

function assistantMessage(message: Extract<ChatRequestMessage, { role: 'assistant' }>): GatewayMessage {
  const { content, refusal, reasoning_content: reasoning, tool_calls: calls } = message;
  const said = content === null || content === undefined ? (refusal ?? null) : plain(content);
  const hasCalls = calls !== null && calls !== undefined && calls.length > 0;
  return {
    role: 'assistant',
    content: said,
    ...(reasoning ? { reasoning_content: reasoning } : {}),
    ...(hasCalls ? { tool_calls: calls } : {}),
  };
}

type UserContent = Extract<ChatRequestMessage, { role: 'user' }>['content'];

function userContent(content: UserContent, path: string): string | ContentPart[] {
  if (typeof content === 'string') return content;
  return content.map((part, index): ContentPart => {
    if (part.type === 'image_url') {
      assertPicture(part.image_url.url, `${path}.${index}.image_url.url`);
      return { type: 'image_url', image_url: { url: part.image_url.url } };
    }
    if (part.type === 'text') return part;
    assertDocument(part.file.file_data, `${path}.${index}.file.file_data`);
    const { filename = 'document.pdf', file_data } = part.file;
    return { type: 'file', file: { filename, file_data } };
  });
}

function plain(content: string | ({ text: string } | { refusal: string })[]): string {
  if (typeof content === 'string') return content;
  return content.map((part) => ('text' in part ? part.text : part.refusal)).join('\n\n');
}
