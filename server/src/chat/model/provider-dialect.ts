import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import { initialShape, type RequestShape } from './fitting/shape.ts';

type ParameterName = keyof Parameters;

/** A setting by a person or by us that a server may refuse. */
export type Setting =
  | ParameterName
  | 'reasoningSummary'
  | 'encryptedReasoning'
  | 'thoughts'
  | 'cacheKey'
  | 'cacheMarks'
  | 'schemas'
  | 'prefill';

/** Differences between servers of the same API, learned from refusals and kept between calls to one model. */
export type ProviderDialect = {
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  streamOptions: boolean;
  /** False if the model accepts no instructions: they are then put before the first user message's text. */
  systemRole: boolean;
  /** How reasoning effort is expressed if there are several ways; undefined: as the model's name suggests. */
  effortAs: 'word' | 'budget' | undefined;
  /** Refused settings, and settings refused with one value: `name=value`. */
  refused: Set<string>;
  /** True if calls must be signed, even those that this model did not make. */
  isSignatureNeeded: boolean;
  /** False if the model refused them. */
  tools: boolean;
  images: boolean;
  /** Limits that the server told, in tokens. */
  maxOutputTokens: number | undefined;
  contextWindow: number | undefined;
  /** The lessons that are stored with the model, as a text. */
  storedLessons: string;
  /** The form of messages and tools. */
  shape: RequestShape;
};

/** The dialect to begin with for a base URL. */
export function initialDialect(baseUrl: string, modelId?: string): ProviderDialect {
  return {
    maxTokensField: isOpenAi(baseUrl) ? 'max_completion_tokens' : 'max_tokens',
    streamOptions: true,
    systemRole: true,
    effortAs: undefined,
    refused: new Set(),
    isSignatureNeeded: false,
    tools: true,
    images: true,
    maxOutputTokens: undefined,
    contextWindow: undefined,
    storedLessons: '',
    shape: initialShape(baseUrl, modelId),
  };
}

export function isOpenAi(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && new URL(baseUrl).hostname === 'api.openai.com';
}

/** True if the setting, or this value of it, was refused before. */
export function isRefused(dialect: ProviderDialect, setting: Setting, value?: unknown): boolean {
  return dialect.refused.has(setting) || (value !== undefined && dialect.refused.has(valueKey(setting, value)));
}

/** Returns the value that a person set, unless the server refuses it. */
export function kept<Name extends ParameterName>(
  dialect: ProviderDialect,
  parameters: Parameters,
  name: Name,
): Parameters[Name] {
  return isRefused(dialect, name, parameters[name]) ? undefined : parameters[name];
}

/** Parameters that a protocol has no place for. */
const absent: Record<ProviderKind, readonly ParameterName[]> = {
  openai: [],
  'openai-responses': ['stop', 'seed'],
  anthropic: ['verbosity', 'seed'],
  gemini: ['verbosity'],
};

/** Which of a person's parameters are not sent. */
export function leftOut(
  kind: ProviderKind,
  dialect: ProviderDialect,
  parameters: Parameters | undefined,
): ParameterName[] {
  return parameterNames.filter((name) => {
    const value = parameters?.[name];
    return value !== undefined && (absent[kind].includes(name) || isRefused(dialect, name, value));
  });
}

/** In the order in which refusals are taken to mean them: some servers accept only one of two parameters. */
export const parameterNames = [
  'topP',
  'seed',
  'stop',
  'verbosity',
  'temperature',
  'reasoningEffort',
] as const satisfies readonly ParameterName[];

/** Marks a setting as refused: this value of it, where the server seems to take others. */
export function refuse(dialect: ProviderDialect, setting: Setting, value?: unknown): void {
  // If a person tries one value after another, forget rather than remember endlessly.
  if (dialect.refused.size >= refusedMax) dialect.refused.clear();
  dialect.refused.add(value === undefined ? setting : valueKey(setting, value));
}

const refusedMax = 64;

function valueKey(setting: Setting, value: unknown): string {
  return `${setting}=${JSON.stringify(value)}`;
}

/** How long lessons about a model are valid, and for how many models they are kept. */
const keptMs = 3_600_000;
const keptMax = 1000;
const dialects = new Map<string, { dialect: ProviderDialect; until: number }>();

type StoredLessons = { key: string; apply: (dialect: ProviderDialect) => void };

/**
 * Returns the dialect of one model of one provider: the one learned in the last hour, otherwise the initial one with
 * the stored lessons. A dialect is dropped when its stored lessons were forgotten.
 */
export function dialectOf(
  key: readonly string[],
  baseUrl: string,
  now: number,
  lessons: StoredLessons = noLessons,
): ProviderDialect {
  const text = JSON.stringify(key);
  const known = dialects.get(text);
  if (known !== undefined && known.until > now && !isForgotten(known.dialect.storedLessons, lessons.key)) {
    known.dialect.storedLessons = lessons.key;
    return known.dialect;
  }
  dialects.delete(text);
  const oldest = dialects.keys().next();
  if (dialects.size >= keptMax && oldest.done !== true) dialects.delete(oldest.value);
  const dialect = initialDialect(baseUrl, key.at(-1));
  lessons.apply(dialect);
  dialect.storedLessons = lessons.key;
  dialects.set(text, { dialect, until: now + keptMs });
  return dialect;
}

const noLessons: StoredLessons = { key: '', apply: () => undefined };

/** True if a lesson that was stored is stored no more. */
function isForgotten(before: string, now: string): boolean {
  const left = new Set(now.split(' '));
  return before !== '' && before.split(' ').some((lesson) => !left.has(lesson));
}
