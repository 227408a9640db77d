import type { Parameters } from '@homeport/contracts/chat/parameters';
import { type AnswerFormat, jsonInstruction } from '../demands.ts';
import type { ModelRequest, StepState } from '../protocol.ts';
import { isRefused, kept, type ProviderDialect } from '../provider-dialect.ts';
import type { ChatMessage, ContentPart } from '../provider-messages.ts';
import { argumentsObject, inlineData, parseHistory, rememberLast, splitInstructions } from '../request-parts.ts';
import { isRecord } from '../stream/storable-text.ts';

type ReasoningEffort = NonNullable<Parameters['reasoningEffort']>;

/** The body of `POST /v1/messages`, as far as we write it. */
export type AnthropicBody = {
  model: string;
  max_tokens: number;
  stream: true;
  system?: TextBlock[];
  tools?: AnthropicTool[];
  temperature?: number;
  top_p?: number;
  stop_sequences?: string[];
  thinking?: Thinking;
  output_config?:
    | { effort?: Effort | undefined; format?: { type: 'json_schema'; schema: Record<string, unknown> } }
    | undefined;
  tool_choice?: ToolChoiceOfAnthropic | undefined;
  top_k?: number | undefined;
  messages: AnthropicMessage[];
};
type AnthropicMessage = { role: 'user' | 'assistant'; content: Block[] };
type CacheMark = { cache_control?: { type: 'ephemeral' } };
type TextBlock = { type: 'text'; text: string } & CacheMark;
type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
type Source<Media> = { type: 'base64'; media_type: Media; data: string } | { type: 'url'; url: string };
type ToolUse = { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> } & CacheMark;
type GivenBlock =
  | TextBlock
  | ({ type: 'image'; source: Source<ImageType> } & CacheMark)
  | ({ type: 'document'; source: Source<'application/pdf'>; title?: string } & CacheMark);
type Block =
  | GivenBlock
  | ToolUse
  | ({ type: 'tool_result'; tool_use_id: string; content: string | GivenBlock[] } & CacheMark)
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string };
type InputSchema = { type: 'object'; [member: string]: unknown };
type AnthropicTool = { name: string; description: string; input_schema: InputSchema } & CacheMark;
type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';
type Thinking =
  | { type: 'adaptive'; display: 'summarized' }
  | { type: 'disabled' }
  | { type: 'enabled'; budget_tokens: number };

type Alone = { disable_parallel_tool_use?: true };
type ToolChoiceOfAnthropic =
  | ({ type: 'auto' | 'any' } & Alone)
  | ({ type: 'tool'; name: string } & Alone)
  | { type: 'none' };

const minThinkingBudget = 1024;
const thinkingBudgets: Record<Exclude<ReasoningEffort, 'none'>, number> = {
  minimal: minThinkingBudget,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_000,
};

/** Writes the bodies of one turn; the history is translated once. */
export function createAnthropicWriter(): (request: ModelRequest, dialect: ProviderDialect) => string {
  const readHistory = rememberLast((history: string) => {
    const { system, rest } = splitInstructions(parseHistory(history));
    return { system, plain: innerJson(toMessages(rest)), marked: innerJson(markLast(toMessages(rest))) };
  });
  return (request, dialect) => {
    const marks = !isRefused(dialect, 'cacheMarks');
    const before = readHistory(request.history ?? '');
    const own = splitInstructions(request.messages);
    const recent = toMessages(own.rest);
    const messages = [marks ? before.marked : before.plain, innerJson(marks ? markLast(recent) : recent)];
    const json = request.demands?.format?.type === 'json' ? jsonInstruction : '';
    const system = [own.system, before.system, json].filter((text) => text !== '').join('\n\n');
    const settings = JSON.stringify(settingsOf(request, dialect, { system, marks }));
    return `${settings.slice(0, -1)},"messages":[${messages.filter((text) => text !== '').join(',')}]}`;
  };
}

type PromptContext = { system: string; marks: boolean };

function settingsOf(
  request: ModelRequest,
  dialect: ProviderDialect,
  { system, marks }: PromptContext,
): Omit<AnthropicBody, 'messages'> {
  const { parameters = {}, tools = [], maxOutputTokens } = request;
  const mark: CacheMark = marks ? { cache_control: { type: 'ephemeral' } } : {};
  return {
    model: request.modelId,
    stream: true,
    max_tokens: maxOutputTokens,
    system: system === '' ? undefined : [{ type: 'text', text: system, ...mark }],
    tools:
      tools.length === 0
        ? undefined
        : tools.map((tool, index) => ({
            name: tool.name,
            description: tool.description,
            input_schema: { ...tool.inputSchema, type: 'object' },
            ...(index === tools.length - 1 ? mark : {}),
          })),
    temperature: kept(dialect, parameters, 'temperature'),
    top_p: kept(dialect, parameters, 'topP'),
    stop_sequences: kept(dialect, parameters, 'stop'),
    top_k: request.demands?.topK,
    tool_choice: toolChoiceOf(request),
    ...withFormat(effortOf(request, dialect), request.demands?.format),
  };
}

/** How hard the model thinks. Older models only have a token budget, which must be below the answer's limit. */
function effortOf(request: ModelRequest, dialect: ProviderDialect): Pick<AnthropicBody, 'thinking' | 'output_config'> {
  const asked = request.demands?.thinking;
  if (asked?.type === 'enabled' && dialect.effortAs === 'budget') {
    return { thinking: { type: 'enabled', budget_tokens: asked.budgetTokens } };
  }
  const effort = kept(dialect, request.parameters ?? {}, 'reasoningEffort');
  if (effort === undefined) return asked?.type === 'adaptive' ? { thinking: adaptive } : {};
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  if (dialect.effortAs !== 'budget') {
    const word = effort === 'minimal' ? 'low' : effort;
    return { thinking: adaptive, output_config: { effort: word } };
  }
  const budget = Math.min(thinkingBudgets[effort], Math.floor(request.maxOutputTokens / 2));
  // A turn whose first step has no signed thinking cannot begin to think with a budget.
  const firstStep = request.messages.find((message) => message.role === 'assistant');
  const hasBegun = firstStep?.role === 'assistant' && firstStep.tool_calls !== undefined;
  if (budget < minThinkingBudget || (hasBegun && firstStep.stepState === undefined)) return {};
  return { thinking: { type: 'enabled', budget_tokens: budget } };
}

const adaptive = { type: 'adaptive', display: 'summarized' } as const;

function toolChoiceOf({ demands = {}, tools = [] }: ModelRequest): ToolChoiceOfAnthropic | undefined {
  const { toolChoice, parallelTools } = demands;
  if (tools.length === 0 || (toolChoice === undefined && parallelTools !== false)) return undefined;
  if (toolChoice === 'none') return { type: 'none' };
  const alone: Alone = parallelTools === false ? { disable_parallel_tool_use: true } : {};
  if (typeof toolChoice === 'object') return { type: 'tool', name: toolChoice.name, ...alone };
  return { type: toolChoice === 'required' ? 'any' : 'auto', ...alone };
}

function withFormat(
  settings: Pick<AnthropicBody, 'thinking' | 'output_config'>,
  format: AnswerFormat | undefined,
): Pick<AnthropicBody, 'thinking' | 'output_config'> {
  if (format?.type !== 'schema') return settings;
  return {
    ...settings,
    output_config: { ...settings.output_config, format: { type: 'json_schema', schema: format.schema } },
  };
}

/** Marks the end of the messages, so that everything before it is read from the cache next time. */
function markLast(messages: AnthropicMessage[]): AnthropicMessage[] {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== 'user' || block === undefined || block.type === 'thinking' || block.type === 'redacted_thinking') {
    return messages;
  }
  const content = last.content.with(-1, { ...block, cache_control: { type: 'ephemeral' } });
  return messages.with(-1, { role: 'user', content });
}

function innerJson(messages: AnthropicMessage[]): string {
  return JSON.stringify(messages).slice(1, -1);
}

/** Merges adjacent messages of one role: all results of a step, with the person's next message. */
function toMessages(messages: readonly ChatMessage[]): AnthropicMessage[] {
  const translated: AnthropicMessage[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = toBlocks(message);
    const last = translated.at(-1);
    if (content.length === 0) continue;
    if (last?.role === role) last.content.push(...content);
    else translated.push({ role, content });
  }
  return translated;
}

function toBlocks(message: ChatMessage): Block[] {
  if (message.role === 'tool') {
    const { content, pictures = [] } = message;
    const blocks = pictures.length === 0 ? content : [...textBlocks(content), ...pictures.flatMap(partBlocks)];
    return [{ type: 'tool_result', tool_use_id: callId(message.tool_call_id), content: blocks }];
  }
  if (message.role !== 'assistant') {
    const { content } = message;
    return typeof content === 'string' ? textBlocks(content) : content.flatMap(partBlocks);
  }
  const calls = (message.tool_calls ?? []).map(
    (call): ToolUse => ({
      type: 'tool_use',
      id: callId(call.id),
      name: call.function.name,
      input: argumentsObject(call.function.arguments),
    }),
  );
  return message.stepState === undefined
    ? [...textBlocks(message.content ?? ''), ...calls]
    : restoredStep(message.stepState, calls);
}

/** The blocks as received, with our ids for the calls. */
function restoredStep(stepState: StepState, calls: ToolUse[]): Block[] {
  let next = 0;
  return parseStepState(stepState).map((block) => {
    const call = block.type === 'tool_use' ? calls[next++] : undefined;
    return call === undefined || block.type !== 'tool_use' ? block : { ...block, id: call.id };
  });
}

/** The format that `anthropic-events.ts` writes. */
function parseStepState(stepState: StepState): Block[] {
  return stepState.filter(isRecord) as Block[];
}

function partBlocks(part: ContentPart): GivenBlock[] {
  if (part.type === 'text') return textBlocks(part.text);
  const url = part.type === 'file' ? part.file.file_data : part.image_url.url;
  const data = inlineData(url);
  if (part.type === 'file') {
    if (data?.mediaType !== 'application/pdf') return textBlocks(`[File ${part.file.filename} is not included]`);
    const source = { type: 'base64', media_type: 'application/pdf', data: data.data } as const;
    return [{ type: 'document', source, title: part.file.filename }];
  }
  if (data === undefined) return [{ type: 'image', source: { type: 'url', url } }];
  if (!isImageType(data.mediaType)) return textBlocks(`[A picture (${data.mediaType}) is not included]`);
  return [{ type: 'image', source: { type: 'base64', media_type: data.mediaType, data: data.data } }];
}

function isImageType(mediaType: string): mediaType is ImageType {
  return /^image\/(?:jpeg|png|gif|webp)$/.test(mediaType);
}

/** Blocks with only white space are refused. */
function textBlocks(text: string): TextBlock[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** An id in the allowed characters; other servers use different ones. */
function callId(id: string): string {
  return id.replace(/[^\w-]/g, '_').slice(0, 128);
}
