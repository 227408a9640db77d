import type { AnswerFormat, ToolChoice } from '../../model/demands.ts';
import type { ContentPart } from '../../model/provider-messages.ts';
import { schemaFormatOf } from '../chat/request.ts';
import {
  type GatewayMessage,
  type GatewayRequest,
  given,
  invalidMember,
  refuseMembers,
  type StepItem,
  unsupportedMember,
  type Validate,
} from '../gateway-request.ts';
import { assertResults, assertTools } from '../message-rules.ts';
import { assistantOf } from '../messages/request.ts';
import { assertDocument, assertPicture } from '../pictures.ts';
import { type MessageItem, type OtherItem, type ResponsesBody, responsesBody } from './schema.ts';
import { joinedName, type ReadTools, readTools, type SingleTool, withoutOptionalTools } from './tools.ts';

/** A request of the Responses API, in our terms, with what its answer repeats of it. */
export type ParsedResponses = {
  model: string;
  request: GatewayRequest;
  isStreamed: boolean;
  isStored: boolean;
  previousId: string | undefined;
  /** Reasoning state is sent back, sealed. */
  wantsState: boolean;
  /** The tools by the names that the model calls. */
  declared: ReadTools['declared'];
  /** Members of a response that repeat its request. */
  echo: ReturnType<typeof echoOf>;
};

/** Members that would change the answer, and that no provider behind this can honor. */
const refused = ['background', 'conversation', 'prompt', 'top_logprobs', 'context_management'];

/** Names of members of chat completions in this protocol. */
export const responsesNames = { response_format: 'text.format', verbosity: 'text.verbosity' };

/** Reads the body of `/v1/responses`. Throws `invalid_request` with the path of the member. */
export function parseResponses(given: Record<string, unknown>, validate: Validate): ParsedResponses {
  refuseMembers(given, refused);
  const asked = validate(responsesBody, withoutOptionalTools(given));
  if (asked.include?.includes('message.output_text.logprobs') === true) throw unsupportedMember('include');
  const { definitions, declared, choice } = readTools(asked);
  assertTools(definitions, choice, { tools: 'tools', choice: 'tool_choice' });
  return {
    model: asked.model ?? 'default',
    isStreamed: asked.stream === true,
    isStored: asked.store === true,
    previousId: asked.previous_response_id ?? undefined,
    wantsState: asked.include?.includes('reasoning.encrypted_content') === true,
    declared,
    echo: echoOf(asked),
    request: {
      messages: toMessages(asked),
      tools: definitions,
      maxOutputTokens: asked.max_output_tokens ?? undefined,
      ...settingsOf(asked, definitions.length > 0, choice),
    },
  };
}

function settingsOf(
  asked: ResponsesBody,
  hasTools: boolean,
  toolChoice: ToolChoice | undefined,
): Pick<GatewayRequest, 'parameters' | 'demands'> {
  return {
    parameters: given({
      temperature: asked.temperature,
      topP: asked.top_p,
      reasoningEffort: asked.reasoning?.effort,
      verbosity: asked.text?.verbosity,
    }),
    demands: given({
      toolChoice: hasTools ? toolChoice : undefined,
      parallelTools: hasTools ? asked.parallel_tool_calls : undefined,
      format: formatOf(asked.text?.format),
      frequencyPenalty: asked.frequency_penalty,
      presencePenalty: asked.presence_penalty,
    }),
  };
}

function formatOf(format: NonNullable<ResponsesBody['text']>['format']): AnswerFormat | undefined {
  if (format === null || format === undefined || format.type === 'text') return undefined;
  return format.type === 'json_object' ? { type: 'json' } : schemaFormatOf(format);
}

/** One step of the assistant: its items up to the next message or result. */
type OpenStep = { items: StepItem[]; reasoning: string[]; path: string };

function toMessages({ input, instructions, previous_response_id: previousId }: ResponsesBody): GatewayMessage[] {
  const messages: GatewayMessage[] = [];
  const paths: string[] = [];
  let step: OpenStep | undefined;
  const add = (message: GatewayMessage, path: string): void => {
    closeStep();
    messages.push(message);
    paths.push(path);
  };
  const closeStep = (): void => {
    if (step === undefined) return;
    const { items, reasoning, path } = step;
    step = undefined;
    messages.push(assistantOf(items, reasoning.join('\n\n')));
    paths.push(path);
  };
  if (instructions) add({ role: 'system', content: instructions }, 'instructions');
  if (typeof input === 'string') add({ role: 'user', content: input }, 'input');
  else {
    for (const [index, item] of input.entries()) {
      const path = `input.${index}`;
      const isOfStep = 'role' in item ? item.role === 'assistant' : !item.type.endsWith('_output');
      if (!isOfStep) for (const message of otherMessages(item, path)) add(message, path);
      else {
        step ??= { items: [], reasoning: [], path };
        addToStep(step, item, path);
      }
    }
  }
  closeStep();
  if (messages.every(({ role }) => role === 'system')) {
    throw invalidMember('input', 'The input has no message to answer');
  }
  // The calls of a stored response are in its conversation.
  if (!previousId) assertResults(messages, (index) => paths[index] ?? 'input');
  return messages;
}

function addToStep({ items, reasoning }: OpenStep, item: MessageItem | OtherItem, path: string): void {
  if ('role' in item) {
    const { content } = item;
    const text = typeof content === 'string' ? content : content.map((part) => textOf(part)).join('');
    items.push({ type: 'text', text });
  } else if (item.type === 'function_call') {
    items.push({
      type: 'call',
      id: item.call_id,
      name: joinedName(item.namespace, item.name),
      arguments: item.arguments,
    });
  } else if (item.type === 'custom_tool_call') {
    const json = JSON.stringify({ input: item.input });
    items.push({ type: 'call', id: item.call_id, name: joinedName(item.namespace, item.name), arguments: json });
  } else if (item.type === 'reasoning') {
    const texts = [...(item.summary ?? []), ...(item.content ?? [])].map(({ text }) => text);
    reasoning.push(...texts.filter((text) => text !== ''));
    const blob = item.encrypted_content;
    if (blob) items.push({ type: 'sealed', blob, param: `${path}.encrypted_content` });
  }
}

function textOf(part: object): string {
  if ('text' in part && typeof part.text === 'string') return part.text;
  return 'refusal' in part && typeof part.refusal === 'string' ? part.refusal : '';
}

/** A message of the person or the developer, or a result; files of a result follow it in a message of their own. */
function otherMessages(item: MessageItem | OtherItem, path: string): GatewayMessage[] {
  if ('role' in item) {
    const content =
      typeof item.content === 'string'
        ? item.content
        : item.content.map((part, at) => toPart(part, `${path}.content.${at}`));
    if (item.role === 'user') return [{ role: 'user', content }];
    return [{ role: 'system', content: plain(content) }];
  }
  if (!('output' in item)) return [];
  const output =
    typeof item.output === 'string' ? item.output : item.output.map((part, at) => toPart(part, `${path}.output.${at}`));
  const files = typeof output === 'string' ? [] : output.filter(({ type }) => type !== 'text');
  const text = plain(output);
  const content = files.length > 0 && text === '' ? '[The result is in the next message]' : text;
  const result: GatewayMessage = { role: 'tool', tool_call_id: item.call_id, content };
  return files.length === 0 ? [result] : [result, { role: 'user', content: files }];
}

function plain(content: string | ContentPart[]): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}

function toPart(part: { type: string }, path: string): ContentPart {
  if ('image_url' in part && typeof part.image_url === 'string') {
    assertPicture(part.image_url, `${path}.image_url`);
    return { type: 'image_url', image_url: { url: part.image_url } };
  }
  if ('file_data' in part && typeof part.file_data === 'string') {
    assertDocument(part.file_data, `${path}.file_data`);
    const filename = 'filename' in part && typeof part.filename === 'string' ? part.filename : 'document.pdf';
    return { type: 'file', file: { filename, file_data: part.file_data } };
  }
  return { type: 'text', text: textOf(part) };
}

function echoOf(asked: ResponsesBody) {
  const { format } = asked.text ?? {};
  return {
    previous_response_id: asked.previous_response_id ?? null,
    instructions: asked.instructions ?? null,
    tools: (asked.tools ?? []).map((tool) => ({
      ...tool,
      ...(tool.type === 'function' ? functionDefaults(tool) : {}),
    })),
    tool_choice: asked.tool_choice ?? 'auto',
    truncation: asked.truncation ?? 'disabled',
    parallel_tool_calls: asked.parallel_tool_calls ?? true,
    text: { format: format ?? { type: 'text' }, ...given({ verbosity: asked.text?.verbosity }) },
    temperature: asked.temperature ?? 1,
    top_p: asked.top_p ?? 1,
    presence_penalty: asked.presence_penalty ?? 0,
    frequency_penalty: asked.frequency_penalty ?? 0,
    top_logprobs: 0,
    reasoning: { effort: asked.reasoning?.effort ?? null, summary: asked.reasoning?.summary ?? null },
    max_output_tokens: asked.max_output_tokens ?? null,
    max_tool_calls: asked.max_tool_calls ?? null,
    store: asked.store === true,
    background: false,
    service_tier: asked.service_tier ?? 'default',
    metadata: asked.metadata ?? {},
    safety_identifier: asked.safety_identifier ?? null,
    prompt_cache_key: asked.prompt_cache_key ?? null,
  };
}

function functionDefaults(tool: Extract<SingleTool, { type: 'function' }>) {
  return { description: tool.description ?? null, parameters: tool.parameters ?? null, strict: tool.strict ?? null };
}
