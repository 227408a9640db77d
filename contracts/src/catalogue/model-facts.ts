import { z } from 'zod';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';

/** Capabilities and limits of models (contract.md section 11). */

export const abilities = z.object({
  images: z.boolean(),
  documents: z.boolean(),
  tools: z.boolean(),
  temperature: z.boolean(),
  /** The efforts that it takes, as its server names them; an empty list: it reasons, and nothing can be chosen. */
  reasoning: z.union([z.array(z.string().min(1).max(limits.effortNameMax)).max(limits.effortsMax), z.literal(false)]),
});
export type Abilities = z.infer<typeof abilities>;

const price = z.number().int().min(0).max(limits.priceMax).nullable();
/** In millionths of a US dollar for 1,000,000 tokens; null: not known. */
export const prices = z.object({ input: price, output: price, cachedInput: price, cacheWrite: price });
export type Prices = z.infer<typeof prices>;

/** Source of a fact: the provider's model list, the registry that comes with Homeport, or a person. */
const factSource = z.enum(['provider', 'registry', 'person']);
export type FactSource = z.infer<typeof factSource>;
export const sources = z.object({
  displayName: factSource.optional(),
  contextWindow: factSource.optional(),
  maxOutputTokens: factSource.optional(),
  abilities: factSource.optional(),
  prices: factSource.optional(),
});
export type FactName = keyof z.infer<typeof sources>;

/** Something that a model's server refused, with the day it was learned. */
export const lesson = z.object({
  about: z.enum(['tools', 'images', 'system', 'parameter', 'max_output', 'context', 'reasoning']),
  /** A number of tokens for `max_output` and `context`, the name of a parameter, else `refused`. */
  value: z.string(),
  at: fields.timestamp,
});
export type Lesson = z.infer<typeof lesson>;

/** Facts on a model; absent members are unknown. */
export type ModelFacts = {
  displayName?: string;
  /** In tokens. */
  contextWindow?: number;
  /** Largest possible context window, if the server loaded the model with a smaller one. */
  possibleWindow?: number;
  /** Whether its own server runs it now, with `contextWindow`; absent for servers that do not load models. */
  isLoaded?: boolean;
  /** Whether the model supports chat, if its server reports it. */
  chat?: boolean;
  maxOutputTokens?: number;
  abilities?: Partial<Abilities>;
  prices?: Prices;
  /** Day (`YYYY-MM-DD`) from which its server no longer offers it. */
  endOfLife?: string;
};

/** A model as its provider lists it, with what is known of it. */
export const listedModel = z.object({
  id: z.string(),
  /** False for models that embed, speak, draw or rank: they are of no use in a conversation. */
  chat: z.boolean(),
  displayName: z.string().optional(),
  contextWindow: z.number().int().optional(),
  /** Largest possible context window, if the server loaded the model with a smaller one. */
  possibleWindow: z.number().int().optional(),
  /** Whether its own server runs it now with `contextWindow`; absent for servers that do not load models. */
  isLoaded: z.boolean().optional(),
  maxOutputTokens: z.number().int().optional(),
  abilities,
  prices: prices.optional(),
  endOfLife: z.string().optional(),
  sources,
});
export type ListedModel = z.infer<typeof listedModel>;
