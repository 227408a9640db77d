import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import { ApiError } from '@homeport/contracts/errors';
import type { z } from 'zod';
import type { ResolvedModel } from '../../catalogue/model-choice.ts';
import type { Demands } from '../model/demands.ts';
import { fitSchema } from '../model/fitting/tools/tool-schema.ts';
import type { ToolDefinition } from '../model/protocol.ts';
import type { ChatMessage } from '../model/provider-messages.ts';

type AssistantMessage = Extract<ChatMessage, { role: 'assistant' }>;

/** The parts of an assistant's message in their order, for models that want their thinking back in its place. */
export type StepItem =
  | { type: 'text'; text: string }
  | { type: 'call'; id: string; name: string; arguments: string }
  /** State that we sealed. */
  | { type: 'sealed'; blob: string; param: string }
  /** A block of Anthropic's, as its API signed it. */
  | { type: 'block'; block: Record<string, unknown> };

/** A message of a request, before its sealed state is opened. */
export type GatewayMessage = Exclude<ChatMessage, AssistantMessage> | (AssistantMessage & { items?: StepItem[] });

/** A request of any front protocol, in the terms of our requests to models. */
export type GatewayRequest = {
  messages: GatewayMessage[];
  tools: ToolDefinition[];
  demands: Demands;
  parameters: Parameters;
  /** Undefined: the model's maximum output. */
  maxOutputTokens: number | undefined;
};

/** Reads a value by its schema, or throws `invalid_request` with the path of the member. */
export type Validate = <S extends z.ZodType>(schema: S, value: unknown) => z.output<S>;

/** The values that are neither undefined nor null. */
export function given<Values extends Record<string, unknown>>(
  values: Values,
): { [Name in keyof Values]?: NonNullable<Values[Name]> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(entries) as { [Name in keyof Values]?: NonNullable<Values[Name]> };
}

/** A member of a request that is not valid. `path` is dotted. */
export function invalidMember(path: string, message: string): ApiError {
  return new ApiError('invalid_request', message, { details: [{ path, message }] });
}

/** A member that would change the answer, and that can't be honored. */
export function unsupportedMember(path: string, message = `${path} is not supported`): ApiError {
  return new ApiError('invalid_request', message, { details: [{ path, message, code: 'unsupported_parameter' }] });
}

/**
 * Throws for members that are present, unless their value is the one that changes nothing: undefined, null, false, 0,
 * or an empty list or object.
 */
export function refuseMembers(body: Record<string, unknown>, names: readonly string[]): void {
  for (const name of names) {
    const value = body[name];
    const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
    if (value === undefined || value === null || value === false || value === 0 || isEmpty) continue;
    throw unsupportedMember(name);
  }
}

type Reason = [path: string, reason: string];

/** Settings that the protocols have no place for. */
const missing: Record<ProviderKind, (request: GatewayRequest) => (Reason | false)[]> = {
  openai: ({ demands }) => [demands.topK !== undefined && ['top_k', '']],
  'openai-responses': ({ demands, parameters }) => [
    demands.topK !== undefined && ['top_k', ''],
    parameters.stop !== undefined && ['stop', ''],
    parameters.seed !== undefined && ['seed', ''],
    ...penalties(demands),
  ],
  anthropic: ({ demands, parameters }) => [
    parameters.seed !== undefined && ['seed', ''],
    parameters.verbosity !== undefined && ['verbosity', ''],
    (parameters.temperature ?? 0) > 1 && ['temperature', ': at most 1'],
    ...penalties(demands),
  ],
  gemini: ({ demands, parameters }) => [
    parameters.verbosity !== undefined && ['verbosity', ''],
    demands.format?.type === 'schema' &&
      fitSchema(demands.format.schema, 'plain') === undefined && ['response_format', ': the schema must be an object'],
  ],
};

function penalties({ frequencyPenalty, presencePenalty }: Demands): (Reason | false)[] {
  return [
    frequencyPenalty !== undefined && frequencyPenalty !== 0 && ['frequency_penalty', ''],
    presencePenalty !== undefined && presencePenalty !== 0 && ['presence_penalty', ''],
  ];
}

/**
 * Throws `invalid_request` for what would change the answer and this model does not take. `names` are the names of
 * members in the front protocol, where they differ from those of chat completions.
 */
export function assertSupported(
  { model, provider }: ResolvedModel,
  request: GatewayRequest,
  names: Readonly<Record<string, string>> = {},
): void {
  const found = missing[provider.kind](request).find((each) => each !== false);
  if (found !== undefined) {
    const [path, reason] = found;
    const name = names[path] ?? path;
    throw unsupportedMember(name, `This model does not support ${name}${reason}`);
  }
  if (model.abilities.tools === false && request.tools.length > 0) throw lackingAbility('tools');
  const hasPictures = request.messages.some(
    ({ content }) => Array.isArray(content) && content.some(({ type }) => type === 'image_url'),
  );
  if (model.abilities.images === false && hasPictures) throw lackingAbility('images');
}

/** The model takes no tools, or no pictures. */
export function lackingAbility(ability: 'tools' | 'images'): ApiError {
  return ability === 'tools'
    ? unsupportedMember('tools', 'This model does not take tools')
    : unsupportedMember('messages', 'This model does not take pictures');
}
