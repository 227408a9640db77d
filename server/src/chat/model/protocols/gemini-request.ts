import type { Parameters } from '@homeport/contracts/chat/parameters';
import type { AnswerFormat, ToolChoice } from '../demands.ts';
import { cachedSchema } from '../fitting/tools/tools.ts';
import type { ModelRequest, StepState } from '../protocol.ts';
import { isRefused, kept, type ProviderDialect } from '../provider-dialect.ts';
import type { ChatMessage, ContentPart } from '../provider-messages.ts';
import {
  argumentsObject,
  inlineData,
  parseHistory,
  rememberLast,
  splitInstructions,
  withInstructionsAsText,
} from '../request-parts.ts';
import { isRecord } from '../stream/storable-text.ts';

type ReasoningEffort = NonNullable<Parameters['reasoningEffort']>;

/** The body of `models/<id>:streamGenerateContent`, as far as we write it. */
export type GeminiBody = {
  systemInstruction?: { parts: { text: string }[] } | undefined;
  tools?: { functionDeclarations: GeminiFunction[] }[] | undefined;
  toolConfig?: { functionCallingConfig: { mode: string; allowedFunctionNames?: string[] } } | undefined;
  generationConfig: {
    maxOutputTokens: number;
    topK?: number | undefined;
    frequencyPenalty?: number | undefined;
    presencePenalty?: number | undefined;
    responseMimeType?: 'application/json' | undefined;
    responseSchema?: Record<string, unknown> | undefined;
    temperature?: number;
    topP?: number;
    stopSequences?: string[];
    seed?: number;
    thinkingConfig?: GeminiThinking;
  };
  contents: GeminiContent[];
};
type GeminiThinking = {
  includeThoughts?: true;
  thinkingLevel?: 'minimal' | 'low' | 'medium' | 'high';
  thinkingBudget?: number;
};
type GeminiContent = { role: 'user' | 'model'; parts: GeminiPart[] };
type CalledFunction = { id?: string; name: string; args: Record<string, unknown> };
type GeminiPart =
  | { text: string; thought?: true; thoughtSignature?: string }
  | { inlineData: { mimeType: string; data: string } }
  | { fileData: { fileUri: string } }
  | { functionCall: CalledFunction; thoughtSignature?: string }
  | { functionResponse: { id?: string; name: string; response: Record<string, unknown> } };
type GeminiFunction = {
  name: string;
  description: string;
  parametersJsonSchema?: Record<string, unknown>;
  parameters?: Record<string, unknown>;
};

/** Placeholder for the signature of a call that another model made (Google’s "Thought signatures"). */
const foreignSignature = 'skip_thought_signature_validator';

/** How hard some models should think, as a budget; -1 leaves it to them. */
const thinkingBudgets: Record<ReasoningEffort, number> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};
const thinkingLevels = {
  none: 'minimal',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
} as const satisfies Record<ReasoningEffort, string>;

/** Writes the bodies of one turn; the history is translated once. */
export function createGeminiWriter(): (request: ModelRequest, dialect: ProviderDialect) => string {
  const readHistory = rememberLast((history: string) => {
    const { system, rest } = splitInstructions(parseHistory(history));
    return { system, rest, contents: innerJson(rest, false) };
  });
  return (request, dialect) => {
    const before = readHistory(request.history ?? '');
    const own = splitInstructions(request.messages);
    const system = [own.system, before.system].filter((text) => text !== '').join('\n\n');
    const contents = dialect.systemRole
      ? [before.contents, innerJson(own.rest, dialect.isSignatureNeeded)]
      : [innerJson(withInstructionsAsText(system, [...before.rest, ...own.rest]), dialect.isSignatureNeeded)];
    const settings = JSON.stringify(settingsOf(request, dialect, dialect.systemRole ? system : ''));
    return `${settings.slice(0, -1)},"contents":[${contents.filter((text) => text !== '').join(',')}]}`;
  };
}

/** Path of a model, whose id can include its collection. */
export function geminiPath(modelId: string): string {
  const name = modelId.includes('/') ? modelId : `models/${modelId}`;
  return `/${name.split('/').map(encodeURIComponent).join('/')}:streamGenerateContent?alt=sse`;
}

function settingsOf(request: ModelRequest, dialect: ProviderDialect, system: string): Omit<GeminiBody, 'contents'> {
  const { parameters = {}, demands = {}, tools = [] } = request;
  const { topK, frequencyPenalty, presencePenalty } = demands;
  const hasSchemas = !isRefused(dialect, 'schemas');
  const functions = tools.map(
    ({ name, description, inputSchema }): GeminiFunction =>
      hasSchemas
        ? { name, description, parametersJsonSchema: inputSchema }
        : { name, description, ...(hasProperties(inputSchema) ? { parameters: inputSchema } : {}) },
  );
  return {
    systemInstruction: system === '' ? undefined : { parts: [{ text: system }] },
    tools: functions.length === 0 ? undefined : [{ functionDeclarations: functions }],
    toolConfig: functions.length === 0 ? undefined : toolConfigOf(demands.toolChoice),
    generationConfig: {
      maxOutputTokens: request.maxOutputTokens,
      temperature: kept(dialect, parameters, 'temperature'),
      topP: kept(dialect, parameters, 'topP'),
      stopSequences: kept(dialect, parameters, 'stop'),
      seed: kept(dialect, parameters, 'seed'),
      thinkingConfig: thinkingOf(request, dialect),
      topK,
      frequencyPenalty,
      presencePenalty,
      ...formatOf(demands.format),
    },
  };
}

function toolConfigOf(choice: ToolChoice | undefined): GeminiBody['toolConfig'] {
  if (choice === undefined) return undefined;
  if (typeof choice === 'object') {
    return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [choice.name] } };
  }
  return { functionCallingConfig: { mode: { auto: 'AUTO', none: 'NONE', required: 'ANY' }[choice] } };
}

/** A schema is sent in the older form, which all models take. */
function formatOf(
  format: AnswerFormat | undefined,
): Pick<GeminiBody['generationConfig'], 'responseMimeType' | 'responseSchema'> {
  if (format === undefined) return {};
  const responseSchema = format.type === 'schema' ? cachedSchema(format.schema, 'plain') : undefined;
  return { responseMimeType: 'application/json', responseSchema };
}

/** Older models have a token budget, newer ones a level. */
function thinkingOf(request: ModelRequest, dialect: ProviderDialect): GeminiThinking | undefined {
  const effort = kept(dialect, request.parameters ?? {}, 'reasoningEffort');
  const shown: GeminiThinking = isRefused(dialect, 'thoughts') || effort === 'none' ? {} : { includeThoughts: true };
  const how = dialect.effortAs ?? (/gemini-2/.test(request.modelId) ? 'budget' : 'word');
  if (effort === undefined) return shown.includeThoughts === undefined ? undefined : shown;
  if (how === 'budget') return { ...shown, thinkingBudget: thinkingBudgets[effort] };
  return { ...shown, thinkingLevel: thinkingLevels[effort] };
}

/** The older form has no object without properties. */
function hasProperties({ properties }: Record<string, unknown>): boolean {
  return isRecord(properties) && Object.keys(properties).length > 0;
}

function innerJson(messages: readonly ChatMessage[], signs: boolean): string {
  return JSON.stringify(toContents(messages, signs)).slice(1, -1);
}

/** Merges adjacent messages of one role: all results of a step together. */
function toContents(messages: readonly ChatMessage[], signs: boolean): GeminiContent[] {
  const contents: GeminiContent[] = [];
  const names = new Map<string, CalledFunction>();
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'model' : 'user';
    const parts = toParts(message, names, signs);
    const last = contents.at(-1);
    if (parts.length === 0) continue;
    if (last?.role === role) last.parts.push(...parts);
    else contents.push({ role, parts });
  }
  return contents;
}

/** A result names its function; `called` maps ids to calls. */
function toParts(message: ChatMessage, called: Map<string, CalledFunction>, signs: boolean): GeminiPart[] {
  if (message.role === 'tool') {
    const call = called.get(message.tool_call_id);
    const response = { name: call?.name ?? 'unknown', response: { result: message.content } };
    return [{ functionResponse: call?.id === undefined ? response : { id: call.id, ...response } }];
  }
  if (message.role !== 'assistant') {
    const { content } = message;
    return typeof content === 'string' ? textParts(content) : content.map(toPart);
  }
  const ids = (message.tool_calls ?? []).map((call) => call.id);
  const parts = message.stepState === undefined ? plainParts(message, signs) : parseStepState(message.stepState);
  let next = 0;
  for (const part of parts) {
    const id = 'functionCall' in part ? ids[next++] : undefined;
    if (id !== undefined && 'functionCall' in part) called.set(id, part.functionCall);
  }
  return parts;
}

/**
 * Parts from another model, or from this one in an earlier turn. The first call of a step has the signature if one is
 * required.
 */
function plainParts(message: Extract<ChatMessage, { role: 'assistant' }>, signs: boolean): GeminiPart[] {
  const calls = (message.tool_calls ?? []).map(({ function: { name, arguments: json } }, at): GeminiPart => {
    const functionCall = { name, args: argumentsObject(json) };
    return signs && at === 0 ? { functionCall, thoughtSignature: foreignSignature } : { functionCall };
  });
  return [...textParts(message.content ?? ''), ...calls];
}

/** The format that `gemini-events.ts` writes. */
function parseStepState(stepState: StepState): GeminiPart[] {
  return stepState.filter(isRecord) as GeminiPart[];
}

function textParts(text: string): GeminiPart[] {
  return text === '' ? [] : [{ text }];
}

function toPart(part: ContentPart): GeminiPart {
  if (part.type === 'text') return { text: part.text };
  const url = part.type === 'file' ? part.file.file_data : part.image_url.url;
  const data = inlineData(url);
  if (data === undefined) return { fileData: { fileUri: url } };
  return { inlineData: { mimeType: data.mediaType, data: data.data } };
}
