import type { Parameters } from '@homeport/contracts/chat/parameters';
import type { AskedThinking, ToolChoice } from '../../model/demands.ts';
import type { ContentPart } from '../../model/provider-messages.ts';
import {
  type GatewayMessage,
  type GatewayRequest,
  given,
  refuseMembers,
  type StepItem,
  type Validate,
} from '../gateway-request.ts';
import { assertResults, assertTools } from '../message-rules.ts';
import { assertDocument, assertPicture } from '../pictures.ts';
import { isSealed } from '../sealed-state.ts';
import { type AnthropicMessage, type CountBody, countBody, messagesBody, type ResultBlock } from './schema.ts';

/** A request of the Messages API, in our terms. */
export type ParsedMessages = { model: string; request: GatewayRequest; isStreamed: boolean };

/** Members that would change the answer, and that no provider behind this can honor. */
const refused = ['mcp_servers', 'container'];

/** Names of members of chat completions in this protocol. */
export const anthropicNames = { stop: 'stop_sequences', response_format: 'output_config.format' };

/** Reads the body of `/v1/messages`. Throws `invalid_request` with the path of the member. */
export function parseMessages(body: Record<string, unknown>, validate: Validate): ParsedMessages {
  refuseMembers(body, refused);
  const asked = validate(messagesBody, body);
  const { request, model } = toRequest(asked);
  const { temperature, top_p: topP, top_k: topK, stop_sequences: stop } = asked;
  return {
    model,
    isStreamed: asked.stream === true,
    request: {
      ...request,
      maxOutputTokens: asked.max_tokens,
      parameters: {
        ...request.parameters,
        ...given({ temperature, topP, stop: stop?.length === 0 ? undefined : stop }),
      },
      demands: { ...request.demands, ...given({ topK }) },
    },
  };
}

/** Reads the body of `/v1/messages/count_tokens`. */
export function parseCount(
  body: Record<string, unknown>,
  validate: Validate,
): Pick<ParsedMessages, 'model' | 'request'> {
  refuseMembers(body, refused);
  return toRequest(validate(countBody, body));
}

function toRequest(asked: CountBody): Pick<ParsedMessages, 'model' | 'request'> {
  const { system, thinking, output_config: output, tool_choice: choice } = asked;
  const messages: GatewayMessage[] = [];
  const paths: string[] = [];
  const add = (message: GatewayMessage, path: string): void => {
    messages.push(message);
    paths.push(path);
  };
  const instructions = typeof system === 'string' ? system : (system ?? []).map(({ text }) => text).join('\n\n');
  if (instructions !== '') add({ role: 'system', content: instructions }, 'system');
  for (const [index, message] of asked.messages.entries()) {
    const path = `messages.${index}`;
    for (const each of toMessages(message, `${path}.content`)) add(each, path);
  }
  assertResults(messages, (index) => paths[index] ?? 'messages');
  const tools = (asked.tools ?? []).map(({ name, description, input_schema: inputSchema }) => ({
    name,
    description: description ?? '',
    inputSchema,
  }));
  const toolChoice = toolChoiceOf(choice);
  assertTools(tools, toolChoice, { tools: 'tools', choice: 'tool_choice' });
  const isAlone = choice !== null && choice !== undefined && 'disable_parallel_tool_use' in choice;
  const format = output?.format;
  return {
    model: asked.model ?? 'default',
    request: {
      messages,
      tools,
      maxOutputTokens: undefined,
      parameters: given({ reasoningEffort: effortOf(thinking, output?.effort) }),
      demands: given({
        toolChoice: tools.length === 0 ? undefined : toolChoice,
        parallelTools: isAlone && choice.disable_parallel_tool_use === true ? false : undefined,
        thinking: askedThinking(thinking),
        format:
          format === null || format === undefined
            ? undefined
            : ({ type: 'schema', name: 'answer', schema: format.schema } as const),
      }),
    },
  };
}

function toolChoiceOf(choice: CountBody['tool_choice']): ToolChoice | undefined {
  if (choice === null || choice === undefined) return undefined;
  if (choice.type === 'tool') return { name: choice.name };
  return choice.type === 'any' ? 'required' : choice.type;
}

function askedThinking(thinking: CountBody['thinking']): AskedThinking | undefined {
  if (thinking?.type === 'enabled') return { type: 'enabled', budgetTokens: thinking.budget_tokens };
  return thinking?.type === 'adaptive' ? { type: 'adaptive' } : undefined;
}

type Effort = NonNullable<Parameters['reasoningEffort']>;

/** An effort for models that take no budget of tokens. */
function effortOf(thinking: CountBody['thinking'], effort: Effort | null | undefined): Effort | undefined {
  if (thinking?.type === 'disabled') return 'none';
  if (effort !== null && effort !== undefined) return effort;
  if (thinking?.type !== 'enabled') return undefined;
  const { budget_tokens: budget } = thinking;
  if (budget <= 2048) return 'low';
  return budget <= 12_000 ? 'medium' : 'high';
}

function toMessages(message: AnthropicMessage, path: string): GatewayMessage[] {
  const { role, content } = message;
  if (role === 'assistant') {
    return [typeof content === 'string' ? { role, content } : assistantMessage(content, path)];
  }
  if (role === 'system') return [{ role: 'user', content: reminderOf(content) }];
  if (typeof content === 'string') return [{ role: 'user', content }];
  const results: GatewayMessage[] = [];
  const parts: ContentPart[] = [];
  for (const [index, block] of content.entries()) {
    const at = `${path}.${index}`;
    if (block.type !== 'tool_result') {
      parts.push(toPart(block, at));
      continue;
    }
    const inner = typeof block.content === 'string' ? [{ type: 'text' as const, text: block.content }] : block.content;
    const given = (inner ?? []).map((each, place) => toPart(each, `${at}.content.${place}`));
    const text = given.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
    const files = given.filter((part) => part.type !== 'text');
    const said = files.length > 0 && text === '' ? '[The result is in the next message]' : text;
    const shown = block.is_error === true ? `Error: ${said}` : said;
    results.push({ role: 'tool', tool_call_id: block.tool_use_id, content: shown });
    parts.push(...files);
  }
  return parts.length === 0 ? results : [...results, { role: 'user', content: parts }];
}

/**
 * Instructions within a conversation, as text of the user's turn: few servers take a system message there, and in front
 * of the conversation they would change the beginning that caches hold.
 */
function reminderOf(content: string | { text: string }[]): string {
  const text = typeof content === 'string' ? content : content.map((block) => block.text).join('\n\n');
  return `<system-reminder>\n${text}\n</system-reminder>`;
}

function toPart(block: ResultBlock, path: string): ContentPart {
  if (block.type === 'text') return { type: 'text', text: block.text };
  if (block.type === 'tool_reference') return { type: 'text', text: `Tool: ${block.tool_name}` };
  if (block.type === 'search_result') {
    const passages = block.content.map(({ text }) => text).join('\n\n');
    return { type: 'text', text: `[${block.title}](${block.source})\n${passages}` };
  }
  if (block.type === 'image') {
    const { source } = block;
    const url = source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;
    assertPicture(url, `${path}.source`);
    return { type: 'image_url', image_url: { url } };
  }
  const { source, title } = block;
  if (source.type === 'text') return { type: 'text', text: `[File ${title ?? 'document'}]\n${source.data}` };
  const url = `data:${source.media_type};base64,${source.data}`;
  assertDocument(url, `${path}.source`);
  return { type: 'file', file: { filename: title ?? 'document.pdf', file_data: url } };
}

type AssistantBlocks = Exclude<Extract<AnthropicMessage, { role: 'assistant' }>['content'], string>;

function assistantMessage(blocks: AssistantBlocks, path: string): GatewayMessage {
  const items = blocks.flatMap((block, index) => toItems(block, `${path}.${index}`));
  const thoughts = blocks.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : []));
  return assistantOf(items, thoughts.filter((text) => text !== '').join('\n\n'));
}

/** An assistant's message from the items of a step. */
export function assistantOf(items: readonly StepItem[], reasoning: string): GatewayMessage {
  const text = items.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('');
  const calls = items.flatMap((item) =>
    item.type === 'call'
      ? [{ id: item.id, type: 'function' as const, function: { name: item.name, arguments: item.arguments } }]
      : [],
  );
  const hasState = items.some(({ type }) => type === 'sealed' || type === 'block');
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(hasState ? { items: [...items] } : {}),
  };
}

function toItems(block: AssistantBlocks[number], path: string): StepItem[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'tool_use':
      return [{ type: 'call', id: block.id, name: block.name, arguments: JSON.stringify(block.input) }];
    case 'thinking':
      if (isSealed(block.signature)) {
        return [{ type: 'sealed', blob: block.signature, param: `${path}.signature` }];
      }
      return block.signature === '' ? [] : [{ type: 'block', block: { ...block } }];
    case 'redacted_thinking':
      if (isSealed(block.data)) return [{ type: 'sealed', blob: block.data, param: `${path}.data` }];
      return [{ type: 'block', block: { ...block } }];
  }
}
