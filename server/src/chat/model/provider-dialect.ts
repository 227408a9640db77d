import type { Parameters } from '@homeport/contracts/parameters';
import type { ProviderKind } from '@homeport/contracts/provider-kinds';

type ParameterName = keyof Parameters;

/** What a person set, or what we send by ourselves, that a server may refuse. */
export type Setting =
  | ParameterName
  | 'reasoningSummary'
  | 'encryptedReasoning'
  | 'thoughts'
  | 'cacheKey'
  | 'cacheMarks'
  | 'schemas';

/** What differs between servers of the same API; learnt from refusals and kept between calls of one model. */
export type ProviderDialect = {
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  streamOptions: boolean;
  /** False where the model knows no instructions: they go before the first user message's text then. */
  systemRole: boolean;
  /** How reasoning effort is said where there were several ways; undefined: as the model's name suggests. */
  effortAs: 'word' | 'budget' | undefined;
  /** Settings that were refused, and those refused with one value: `name=value`. */
  refused: Set<string>;
  /** True where calls must be signed, also those that this model did not make. */
  isSignatureNeeded: boolean;
};

/** The dialect to begin with for a base URL. */
export function initialDialect(baseUrl: string): ProviderDialect {
  return {
    maxTokensField: isOpenAi(baseUrl) ? 'max_completion_tokens' : 'max_tokens',
    streamOptions: true,
    systemRole: true,
    effortAs: undefined,
    refused: new Set(),
    isSignatureNeeded: false,
  };
}

export function isOpenAi(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && new URL(baseUrl).hostname === 'api.openai.com';
}

/** True when the setting, or this value of it, was refused before. */
export function isRefused(dialect: ProviderDialect, setting: Setting, value?: unknown): boolean {
  return dialect.refused.has(setting) || (value !== undefined && dialect.refused.has(valueKey(setting, value)));
}

/** What a person set, unless the server refuses it. */
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

/** Which of the parameters that a person set are not sent. */
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

/** In the order in which refusals are taken to mean them: some servers take either of the first and the last but one. */
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
  // A person who tries one value after another is a reason to forget, not to remember without end.
  if (dialect.refused.size >= refusedMax) dialect.refused.clear();
  dialect.refused.add(value === undefined ? setting : valueKey(setting, value));
}

const refusedMax = 64;

function valueKey(setting: Setting, value: unknown): string {
  return `${setting}=${JSON.stringify(value)}`;
}

/** How long what was learnt of a model counts, and of how many it is kept. */
const keptMs = 3_600_000;
const keptMax = 1000;
const dialects = new Map<string, { dialect: ProviderDialect; until: number }>();

/** The dialect of one model of one provider: what was learnt in the last hour, else the one to begin with. */
export function dialectOf(key: readonly string[], baseUrl: string, now: number): ProviderDialect {
  const text = JSON.stringify(key);
  const known = dialects.get(text);
  if (known !== undefined && known.until > now) return known.dialect;
  dialects.delete(text);
  const oldest = dialects.keys().next();
  if (dialects.size >= keptMax && oldest.done !== true) dialects.delete(oldest.value);
  const dialect = initialDialect(baseUrl);
  dialects.set(text, { dialect, until: now + keptMs });
  return dialect;
}
