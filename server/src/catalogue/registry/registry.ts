import { setImmediate } from 'node:timers/promises';
import type { Abilities, ModelFacts, Prices } from '@homeport/contracts/catalogue/model-facts';
import { z } from 'zod';

/**
 * Facts about models by their providers' hosts: a file that comes with Homeport, or a newer one that an administrator
 * uploads.
 */

const cost = z.object({
  input: z.number().min(0).optional(),
  output: z.number().min(0).optional(),
  cache_read: z.number().min(0).optional(),
  cache_write: z.number().min(0).optional(),
});
const entry = z.object({
  name: z.string().max(200),
  context: z.number().int().min(0),
  output: z.number().int().min(0),
  /** Input types besides text. */
  input: z.array(z.string().max(20)).max(10).optional(),
  reasoning: z.boolean().optional(),
  effort: z.array(z.string().max(20)).max(20).optional(),
  tools: z.boolean().optional(),
  temperature: z.boolean().optional(),
  /** In US dollars for 1,000,000 tokens. */
  cost: cost.optional(),
  released: z.string().max(20).optional(),
});
type Entry = z.infer<typeof entry>;

/** One provider of the file, its models not yet parsed. */
const offer = z.object({
  baseUrl: z.string().max(500).optional(),
  models: z.record(z.string().max(256), z.unknown()),
});
const file = z.object({
  /** Source of the facts, with date and license. */
  source: z.string().min(1).max(500),
  providers: z.record(z.string().max(100), offer.extend({ models: z.record(z.string().max(256), entry) })),
});
export type RegistryFile = z.infer<typeof file>;

/** Throws a ZodError for an invalid registry. */
export function parseRegistry(value: unknown): RegistryFile {
  return file.parse(value);
}

const outline = file.extend({ providers: z.record(z.string().max(100), z.unknown()) });
const entriesAtOnce = 250;

/** Parses an untrusted file and yields to the event loop after every few hundred entries. */
export async function parseRegistryInTurns(value: unknown): Promise<RegistryFile> {
  const { source, providers } = outline.parse(value);
  let count = 0;
  const pause = async (): Promise<unknown> => (++count % entriesAtOnce === 0 ? setImmediate() : undefined);
  const parsed: RegistryFile['providers'] = {};
  for (const [name, given] of Object.entries(providers)) {
    const { baseUrl, models } = parseAt(offer, given, ['providers', name]);
    const entries: Record<string, Entry> = {};
    for (const [id, facts] of Object.entries(models)) {
      entries[id] = parseAt(entry, facts, ['providers', name, 'models', id]);
      await pause();
    }
    parsed[name] = { ...(baseUrl === undefined ? {} : { baseUrl }), models: entries };
    await pause();
  }
  return { source, providers: parsed };
}

/** Throws a ZodError whose paths begin with this one. */
function parseAt<T>(schema: z.ZodType<T>, value: unknown, path: string[]): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw new z.ZodError(error.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] })));
}

/** Hosts of providers whose entries name none. */
const wellKnownHosts: Readonly<Record<string, string>> = {
  'api.openai.com': 'openai',
  'api.anthropic.com': 'anthropic',
  'generativelanguage.googleapis.com': 'google',
  'api.mistral.ai': 'mistral',
  'api.x.ai': 'xai',
  'api.groq.com': 'groq',
  'api.together.xyz': 'togetherai',
  'api.together.ai': 'togetherai',
  'api.cerebras.ai': 'cerebras',
  'api.cohere.ai': 'cohere',
  'api.cohere.com': 'cohere',
  'api.perplexity.ai': 'perplexity',
  'api.deepinfra.com': 'deepinfra',
};

/** A model's vendor knows it best; if only others offer it, the first in the file is as good as any. */
const makers = [
  'openai',
  'anthropic',
  'google',
  'mistral',
  'xai',
  'deepseek',
  'moonshotai',
  'alibaba',
  'cohere',
  'zai',
];

/** Makers whose models only they sell, so that the price is known wherever the model is reached. */
const soleSellers = new Set(['openai', 'anthropic', 'google', 'xai']);
/** Models of these makers that anybody may run. */
const openWeights = /^(?:gemma|gpt-oss)/;
/** Prefixes that routers put before a model's id; any other one may name another model. */
const routes = new Set([
  'openai',
  'anthropic',
  'google',
  'gemini',
  'xai',
  'x-ai',
  'azure',
  'bedrock',
  'vertex_ai',
  'openrouter',
  'github',
  'models',
]);

/** Looks up what a registry knows. Built once per file; a query costs a few look-ups. */
export class ModelRegistry {
  readonly source: string;
  readonly #byHost = new Map<string, Map<string, Entry>>();
  readonly #anywhere = new Map<string, Entry>();
  readonly #soleSellers = new Map<string, Entry>();
  #size = 0;

  private constructor(source: string) {
    this.source = source;
  }

  static of(registry: RegistryFile): ModelRegistry {
    const made = new ModelRegistry(registry.source);
    for (const size of made.#fill(registry)) made.#size = size;
    return made;
  }

  /** Indexes a file of unknown size and yields to the event loop. */
  static async inTurns(registry: RegistryFile): Promise<ModelRegistry> {
    const made = new ModelRegistry(registry.source);
    let steps = 0;
    for (const size of made.#fill(registry)) {
      made.#size = size;
      if (++steps % entriesAtOnce === 0) await setImmediate();
    }
    return made;
  }

  /** How many models it knows. */
  get size(): number {
    return this.#size;
  }

  /** Yields after each provider and each model: how many models there are. */
  *#fill({ providers }: RegistryFile): Generator<number> {
    let size = 0;
    const ordered = [...makers, ...Object.keys(providers).filter((name) => !makers.includes(name))];
    const hosts = Map.groupBy(Object.entries(wellKnownHosts), ([, name]) => name);
    for (const name of ordered) {
      const provider = Object.hasOwn(providers, name) ? providers[name] : undefined;
      if (provider === undefined) continue;
      const models = new Map<string, Entry>();
      const own = hostOf(provider.baseUrl ?? '');
      for (const host of [...(hosts.get(name) ?? []).map(([each]) => each), ...(own === undefined ? [] : [own])]) {
        this.#byHost.set(host, models);
      }
      for (const [id, facts] of Object.entries(provider.models)) {
        for (const key of [id.toLowerCase(), plainId(id)]) {
          if (!models.has(key)) models.set(key, facts);
          if (!this.#anywhere.has(key)) this.#anywhere.set(key, facts);
          if (soleSellers.has(name) && !openWeights.test(key)) this.#soleSellers.set(key, facts);
        }
        size += 1;
        yield size;
      }
      yield size;
    }
  }

  /** Facts about a model at this address. Prices are returned only for known providers, since each has its own. */
  find(baseUrl: string, modelId: string): ModelFacts | undefined {
    const here = this.#byHost.get(hostOf(baseUrl) ?? '');
    const found = here?.get(modelId.toLowerCase()) ?? here?.get(plainId(modelId));
    if (found !== undefined) return factsOf(found, true);
    const elsewhere = this.#anywhere.get(modelId.toLowerCase()) ?? this.#anywhere.get(plainId(modelId));
    return elsewhere === undefined ? undefined : factsOf(elsewhere, false);
  }

  /**
   * Prices of the maker for a model that is reached through a server that the registry doesn't know, such as a proxy;
   * undefined if the maker isn't clear from the model's name.
   */
  estimatePrices(baseUrl: string, modelId: string): Prices | undefined {
    if (this.#byHost.has(hostOf(baseUrl) ?? '') || !namesMaker(modelId)) return undefined;
    const found = this.#soleSellers.get(modelId.toLowerCase()) ?? this.#soleSellers.get(plainId(modelId));
    return found?.cost && pricesOf(found.cost);
  }
}

/** True for a plain id, or one behind prefixes of routers; a tag such as `:free` can mean another price. */
function namesMaker(modelId: string): boolean {
  const prefixes = modelId.toLowerCase().split('/').slice(0, -1);
  return !modelId.includes(':') && prefixes.every((prefix) => routes.has(prefix));
}

/** A model's id without the vendor prefix, the date or `latest` suffix, and a server's tag. */
export function plainId(id: string): string {
  const name =
    id
      .toLowerCase()
      .replace(/^models\//, '')
      .split('/')
      .at(-1) ?? '';
  return name
    .replace(/:[\w.-]+$/, '')
    .replace(/-(?:latest|\d{8}|\d{4}-\d{2}-\d{2})$/, '')
    .replace(/^~/, '');
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

function factsOf(entry: Entry, withPrices: boolean): ModelFacts {
  const reads = new Set(entry.input);
  const known: Partial<Abilities> = {
    images: reads.has('image'),
    documents: reads.has('pdf'),
    reasoning: entry.reasoning === true ? (entry.effort ?? []) : false,
    ...(entry.tools === undefined ? {} : { tools: entry.tools }),
    ...(entry.temperature === undefined ? {} : { temperature: entry.temperature }),
  };
  return {
    displayName: entry.name,
    ...(entry.context > 0 ? { contextWindow: entry.context } : {}),
    ...(entry.output > 0 && entry.context > 0 ? { maxOutputTokens: Math.min(entry.output, entry.context) } : {}),
    abilities: known,
    ...(withPrices && entry.cost !== undefined ? { prices: pricesOf(entry.cost) } : {}),
  };
}

function pricesOf(dollars: NonNullable<Entry['cost']>): Prices {
  const price = (value: number | undefined): number | null => (value === undefined ? null : Math.round(value * 1e6));
  return {
    input: price(dollars.input),
    output: price(dollars.output),
    cachedInput: price(dollars.cache_read),
    cacheWrite: price(dollars.cache_write),
  };
}

const otherWork =
  /embed|rerank|whisper|transcri|(?:^|[-_/])tts(?:[-_]|$)|speech|audio-preview|realtime|dall-e|gpt-image|imagen|[-_]image(?:[-_]|$)|flux|stable-diffusion|sora|(?:^|[-_/])veo|lyria|moderation|(?:^|[-_/])(?:asr|ocr)(?:[-_]|$)|[-_](?:asr|ocr)(?:[-_]|$)|prompt-guard|content-safety|babbage|davinci|(?:^|\/)(?:bge|e5|gte|nomic)-/i;

/** False for models that embed, speak, draw, rank or moderate: they are useless in a conversation. */
export function isForChat(modelId: string): boolean {
  return !otherWork.test(modelId);
}
