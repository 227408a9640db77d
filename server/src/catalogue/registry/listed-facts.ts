import type { Abilities, ModelFacts, Prices } from '@homeport/contracts/catalogue/model-facts';

/** Facts about models from the providers' own lists. All values are untrusted: implausible ones are omitted. */

type Foreign = Readonly<Record<string, unknown>>;

/** Facts from one list entry, whichever server it is from; empty if it has only an id. */
export function listedFacts(entry: unknown): ModelFacts {
  if (!isRecord(entry)) return {};
  const contextWindow = windowOf(entry);
  const longest = answerOf(entry);
  const abilities = abilitiesOf(entry);
  const prices = pricesOf(entry);
  const displayName = nameOf(entry);
  const endOfLife = dayOf(entry.retires_at) ?? dayOf(entry.expiration_date);
  return {
    ...(displayName === undefined ? {} : { displayName }),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(longest === undefined ? {} : { maxOutputTokens: Math.min(longest, contextWindow ?? longest) }),
    ...(Object.keys(abilities).length === 0 ? {} : { abilities }),
    ...(prices === undefined ? {} : { prices }),
    ...(endOfLife === undefined ? {} : { endOfLife }),
  };
}

/**
 * The loaded size counts before the possible one: LM Studio and Ollama load a model with less than its maximum. Then
 * Anthropic, Gemini, OpenRouter, Mistral, Groq, vLLM, llama.cpp.
 */
function windowOf(entry: Foreign): number | undefined {
  const meta = isRecord(entry.meta) ? entry.meta : {};
  const top = isRecord(entry.top_provider) ? entry.top_provider : {};
  return firstCount([
    entry.loaded_context_length,
    entry.max_input_tokens,
    entry.inputTokenLimit,
    top.context_length,
    entry.context_length,
    entry.max_context_length,
    entry.context_window,
    entry.max_model_len,
    meta.n_ctx,
    meta.n_ctx_train,
  ]);
}

function answerOf(entry: Foreign): number | undefined {
  const top = isRecord(entry.top_provider) ? entry.top_provider : {};
  return firstCount([
    entry.max_tokens,
    entry.outputTokenLimit,
    top.max_completion_tokens,
    entry.max_completion_tokens,
    entry.max_output_tokens,
  ]);
}

function nameOf(entry: Foreign): string | undefined {
  for (const name of [entry.display_name, entry.displayName, entry.name]) {
    if (typeof name === 'string' && name.trim() !== '' && name.length <= 200 && !name.includes('/')) return name.trim();
  }
  return undefined;
}

function abilitiesOf(entry: Foreign): Partial<Abilities> {
  const architecture = isRecord(entry.architecture) ? entry.architecture : {};
  const given = isRecord(entry.capabilities) ? entry.capabilities : {};
  const named = texts(entry.capabilities);
  const reads = texts(architecture.input_modalities);
  const takes = texts(entry.supported_parameters);
  const flag = (name: string): boolean | undefined => {
    const value = given[name];
    if (typeof value === 'boolean') return value;
    return isRecord(value) && typeof value.supported === 'boolean' ? value.supported : undefined;
  };
  const known: { [Name in keyof Abilities]?: Abilities[Name] } = {
    images: either(reads?.includes('image'), flag('vision'), flag('image_input'), named?.includes('vision')),
    documents: either(reads?.includes('file'), flag('pdf_input')),
    tools: either(takes?.includes('tools'), flag('function_calling'), flag('tool_use'), named?.includes('tools')),
    temperature: either(takes?.includes('temperature')),
    reasoning: reasoningOf(
      either(
        takes?.some((name) => name === 'reasoning' || name === 'reasoning_effort'),
        flag('thinking'),
        flag('reasoning'),
        named?.includes('thinking'),
        typeof entry.thinking === 'boolean' ? entry.thinking : undefined,
      ),
    ),
  };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
}

/** The list says that a model reasons, but not which efforts it accepts. */
function reasoningOf(reasons: boolean | undefined): Abilities['reasoning'] | undefined {
  return reasons === undefined ? undefined : reasons ? [] : false;
}

/** OpenRouter's prices: US dollars per token, as text. */
function pricesOf({ pricing }: Foreign): Prices | undefined {
  if (!isRecord(pricing)) return undefined;
  const price = (value: unknown): number | null => {
    const dollars = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof dollars !== 'number' || !(dollars >= 0) || dollars > 1) return null;
    return Math.round(dollars * 1e12);
  };
  const prices = {
    input: price(pricing.prompt),
    output: price(pricing.completion),
    cachedInput: price(pricing.input_cache_read),
    cacheWrite: price(pricing.input_cache_write),
  };
  return prices.input === null && prices.output === null ? undefined : prices;
}

function dayOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString().slice(0, 10);
}

const countMax = 100_000_000;

function firstCount(values: readonly unknown[]): number | undefined {
  return values.find(
    (value): value is number => typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= countMax,
  );
}

function either(...values: (boolean | undefined)[]): boolean | undefined {
  return values.find((value) => value !== undefined);
}

function texts(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined;
}

function isRecord(value: unknown): value is Foreign {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
