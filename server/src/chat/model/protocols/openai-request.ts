import type { AnswerFormat, Demands } from '../demands.ts';
import type { ModelRequest } from '../protocol.ts';
import { isRefused, kept, type ProviderDialect } from '../provider-dialect.ts';
import type { ChatMessage } from '../provider-messages.ts';
import { hasInstructions, parseHistory, splitInstructions, withInstructionsAsText } from '../request-parts.ts';

/** The body of an OpenAI-style `/chat/completions`. The history is sent as it is, without being parsed. */
export function openAiBody(request: ModelRequest, dialect: ProviderDialect): string {
  const { parameters = {}, demands = {}, tools } = request;
  const settings = JSON.stringify({
    model: request.modelId,
    stream: true,
    stream_options: dialect.streamOptions ? { include_usage: true } : undefined,
    [dialect.maxTokensField]: request.maxOutputTokens,
    tools: tools !== undefined && tools.length > 0 ? tools.map(toFunction) : undefined,
    temperature: kept(dialect, parameters, 'temperature'),
    top_p: kept(dialect, parameters, 'topP'),
    stop: kept(dialect, parameters, 'stop'),
    seed: kept(dialect, parameters, 'seed'),
    reasoning_effort: kept(dialect, parameters, 'reasoningEffort'),
    verbosity: kept(dialect, parameters, 'verbosity'),
    ...demanded(demands),
    prompt_cache_key: isRefused(dialect, 'cacheKey') ? undefined : request.cacheKey,
  });
  return `${settings.slice(0, -1)},"messages":[${messagesText(request, dialect)}]}`;
}

function toFunction(tool: { name: string; description: string; inputSchema: Record<string, unknown> }) {
  const { name, description, inputSchema } = tool;
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}

function demanded({ toolChoice, parallelTools, format, frequencyPenalty, presencePenalty }: Demands) {
  return {
    tool_choice:
      typeof toolChoice === 'object' ? { type: 'function', function: { name: toolChoice.name } } : toolChoice,
    parallel_tool_calls: parallelTools,
    response_format: format === undefined ? undefined : responseFormat(format),
    frequency_penalty: frequencyPenalty,
    presence_penalty: presencePenalty,
  };
}

function responseFormat(format: AnswerFormat) {
  if (format.type === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return { type: 'json_schema', json_schema: { name, description, schema, strict } };
}

function messagesText(request: ModelRequest, dialect: ProviderDialect): string {
  const { history = '', messages } = request;
  if (!dialect.systemRole && hasInstructions(request)) {
    const { system, rest } = splitInstructions([...parseHistory(history), ...messages]);
    return inner(withInstructionsAsText(system, rest));
  }
  // Instructions come first, wherever they were put.
  const systems = messages.findIndex((message) => message.role !== 'system');
  const [own, rest] = systems <= 0 ? [[], messages] : [messages.slice(0, systems), messages.slice(systems)];
  return [inner(own), history, inner(rest)].filter((text) => text !== '').join(',');
}

function inner(messages: readonly ChatMessage[]): string {
  return JSON.stringify(messages).slice(1, -1);
}
