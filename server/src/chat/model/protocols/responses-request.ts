import type { Parameters } from '@homeport/contracts/chat/parameters';
import type { AnswerFormat } from '../demands.ts';
import type { ModelRequest, StepState } from '../protocol.ts';
import { isRefused, kept, type ProviderDialect } from '../provider-dialect.ts';
import type { ChatMessage, ContentPart } from '../provider-messages.ts';
import { parseHistory, rememberLast, splitInstructions, withInstructionsAsText } from '../request-parts.ts';
import { isRecord } from '../stream/storable-text.ts';

type ReasoningEffort = NonNullable<Parameters['reasoningEffort']>;

/** The body of `POST /responses`, as far as we write it. The provider stores nothing. */
export type ResponsesBody = {
  model: string;
  stream: true;
  store: false;
  instructions?: string;
  max_output_tokens: number;
  tools?: ResponsesTool[];
  include?: 'reasoning.encrypted_content'[];
  reasoning?: { effort?: ReasoningEffort; summary?: 'auto' } | undefined;
  text?: { verbosity?: 'low' | 'medium' | 'high'; format?: TextFormat } | undefined;
  tool_choice?: 'auto' | 'none' | 'required' | { type: 'function'; name: string } | undefined;
  parallel_tool_calls?: boolean | undefined;
  temperature?: number;
  top_p?: number;
  prompt_cache_key?: string;
  input: ResponsesItem[];
};
type TextFormat =
  | { type: 'json_object' }
  | { type: 'json_schema'; name: string; description?: string; schema: Record<string, unknown>; strict?: boolean };
type ResponsesItem =
  | { role: 'user'; content: string | InputPart[] }
  | { role: 'assistant'; content: string }
  | FunctionCall
  | { type: 'function_call_output'; call_id: string; output: string | InputPart[] }
  | { type: 'reasoning'; id: string; summary: { type: 'summary_text'; text: string }[]; encrypted_content?: string };
type FunctionCall = { type: 'function_call'; call_id: string; name: string; arguments: string };
type InputPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; filename: string; file_data: string };
type ResponsesTool = {
  type: 'function';
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  strict: false;
};

/** Writes the bodies of one turn; the history is translated once. */
export function createResponsesWriter(): (request: ModelRequest, dialect: ProviderDialect) => string {
  const readHistory = rememberLast((history: string) => {
    const { system, rest } = splitInstructions(parseHistory(history));
    return { system, rest, items: innerJson(rest) };
  });
  return (request, dialect) => {
    const before = readHistory(request.history ?? '');
    const own = splitInstructions(request.messages);
    const system = [own.system, before.system].filter((text) => text !== '').join('\n\n');
    const items = dialect.systemRole
      ? [before.items, innerJson(own.rest)]
      : [innerJson(withInstructionsAsText(system, [...before.rest, ...own.rest]))];
    const settings = JSON.stringify(settingsOf(request, dialect, dialect.systemRole ? system : ''));
    return `${settings.slice(0, -1)},"input":[${items.filter((text) => text !== '').join(',')}]}`;
  };
}

function settingsOf(request: ModelRequest, dialect: ProviderDialect, system: string): Omit<ResponsesBody, 'input'> {
  const { parameters = {}, demands = {}, tools = [] } = request;
  const { toolChoice, parallelTools } = demands;
  const effort = kept(dialect, parameters, 'reasoningEffort');
  const summary = isRefused(dialect, 'reasoningSummary') ? undefined : 'auto';
  const verbosity = kept(dialect, parameters, 'verbosity');
  return {
    model: request.modelId,
    stream: true,
    store: false,
    instructions: system === '' ? undefined : system,
    max_output_tokens: request.maxOutputTokens,
    tools: tools.length === 0 ? undefined : tools.map(toTool),
    include: isRefused(dialect, 'encryptedReasoning') ? undefined : ['reasoning.encrypted_content'],
    reasoning: effort === undefined && summary === undefined ? undefined : { effort, summary },
    text: textOf(verbosity, demands.format),
    tool_choice: typeof toolChoice === 'object' ? { type: 'function', name: toolChoice.name } : toolChoice,
    parallel_tool_calls: parallelTools,
    temperature: kept(dialect, parameters, 'temperature'),
    top_p: kept(dialect, parameters, 'topP'),
    prompt_cache_key: isRefused(dialect, 'cacheKey') ? undefined : request.cacheKey,
  };
}

function textOf(verbosity: Parameters['verbosity'], format: AnswerFormat | undefined): ResponsesBody['text'] {
  if (format === undefined && verbosity === undefined) return undefined;
  return {
    ...(verbosity === undefined ? {} : { verbosity }),
    ...(format === undefined ? {} : { format: textFormat(format) }),
  };
}

function textFormat(format: AnswerFormat): TextFormat {
  return format.type === 'json' ? { type: 'json_object' } : { ...format, type: 'json_schema' };
}

function toTool(tool: { name: string; description: string; inputSchema: Record<string, unknown> }): ResponsesTool {
  const { name, description, inputSchema } = tool;
  return { type: 'function', name, description, parameters: inputSchema, strict: false };
}

function innerJson(messages: readonly ChatMessage[]): string {
  return JSON.stringify(messages.flatMap(toItems)).slice(1, -1);
}

function toItems(message: ChatMessage): ResponsesItem[] {
  switch (message.role) {
    case 'tool':
      return [{ type: 'function_call_output', call_id: message.tool_call_id, output: outputOf(message) }];
    case 'assistant':
      return assistantItems(message);
    default: {
      const { content } = message;
      return [{ role: 'user', content: typeof content === 'string' ? content : content.map(toPart) }];
    }
  }
}

function outputOf({ content, pictures = [] }: Extract<ChatMessage, { role: 'tool' }>): string | InputPart[] {
  return pictures.length === 0 ? content : [{ type: 'input_text', text: content }, ...pictures.map(toPart)];
}

function assistantItems(message: Extract<ChatMessage, { role: 'assistant' }>): ResponsesItem[] {
  const calls = (message.tool_calls ?? []).map(
    ({ id, function: called }): FunctionCall => ({
      type: 'function_call',
      call_id: id,
      name: called.name,
      arguments: called.arguments,
    }),
  );
  if (message.stepState !== undefined) return restoredStep(message.stepState, calls);
  return [...(message.content ? [{ role: 'assistant', content: message.content } as const] : []), ...calls];
}

/** The items as received, with our ids for the calls. */
function restoredStep(stepState: StepState, calls: FunctionCall[]): ResponsesItem[] {
  let next = 0;
  return parseStepState(stepState).map((item) => {
    const call = 'type' in item && item.type === 'function_call' ? calls[next++] : undefined;
    return call === undefined || !('name' in item) ? item : { ...item, call_id: call.call_id };
  });
}

/** The format that `responses-events.ts` writes. */
function parseStepState(stepState: StepState): ResponsesItem[] {
  return stepState.filter(isRecord) as ResponsesItem[];
}

function toPart(part: ContentPart): InputPart {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  if (part.type === 'file') return { type: 'input_file', ...part.file };
  return { type: 'input_image', image_url: part.image_url.url, detail: 'auto' };
}
