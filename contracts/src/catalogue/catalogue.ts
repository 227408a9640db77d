import { z } from 'zod';
import { givenParameters, parameters } from '../chat/parameters.ts';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';
import { line } from '../text/line.ts';
import { cutEndpoint } from './base-url.ts';
import { abilities, lesson, prices, sources } from './model-facts.ts';
import { providerKinds } from './provider-kinds.ts';

/** Providers, models and tiers (contract.md section 4). */

export const model = z.object({
  id: fields.id,
  providerId: fields.id,
  providerModelId: z.string(),
  displayName: z.string(),
  contextWindow: z.number().int(),
  maxOutputTokens: z.number().int(),
  tier: z.number().int(),
  enabled: z.boolean(),
  isDefault: z.boolean(),
  /** Defaults for every answer of this model. */
  parameters,
  abilities,
  prices: prices.nullable(),
  /** List prices of the model's maker, used where no others are known; null if the maker isn't clear. */
  estimatedPrices: prices.nullable().optional(),
  /** Source of each of these values; absent if a person entered it. */
  sources,
  /** Refusals of its server that answers respect, oldest first. */
  lessons: z.array(lesson),
  /** Ids of the models that answer, in this order, when this one's provider fails before the first output. */
  standIns: z.array(fields.id),
  createdAt: fields.timestamp,
});
export type Model = z.infer<typeof model>;

const headers = z.record(z.string(), z.string());
/** Their number is checked first; the outbound guard checks names and values (egress/headers.ts). */
const givenHeaders = headers.meta({ maxProperties: limits.headerCount });

const kind = z.enum(providerKinds);

export const modelTier = z.object({ value: z.number().int(), label: z.string() });
export type ModelTier = z.infer<typeof modelTier>;

/** With whom an administrator of the community edition shares a provider: its models, never its credentials. */
const sharedWith = z.union([
  z.enum(['none', 'everyone']),
  z.object({ userIds: z.array(fields.id).max(limits.sharedUsersMax) }),
]);
export type SharedWith = z.infer<typeof sharedWith>;

const standInReason = z.enum(['overloaded', 'rate_limit', 'unreachable', 'error']);
/** Why a stand-in answered instead of the chosen model. */
export type StandInReason = z.infer<typeof standInReason>;
/** The stand-in that answered a message. */
export const servedBy = z.object({ modelId: fields.id, reason: standInReason });

/** An open circuit: calls wait or go to a stand-in until one call at `retryAt` succeeds. */
export const outage = z.object({ since: fields.timestamp, retryAt: fields.timestamp, reason: standInReason });
export type Outage = z.infer<typeof outage>;

export const provider = z.object({
  id: fields.id,
  name: z.string(),
  kind,
  baseUrl: z.string(),
  hasApiKey: z.boolean(),
  /** Only if the caller may edit. */
  headers: headers.optional(),
  /** Set when stored credentials cannot be decrypted with the current key. */
  credentialsError: z.literal('credentials_unreadable').optional(),
  /**
   * Set when stored credentials were entered for this other origin: they stay stored but are not sent anywhere else.
   */
  credentialsOrigin: z.string().optional(),
  enabled: z.boolean(),
  /** How long the first byte of an answer may take; null: 600 s at private addresses, 300 s elsewhere. */
  firstByteSeconds: z.number().int().nullable(),
  /**
   * False for a provider that another user shares: only its enabled models are listed, and only its owner can change
   * it.
   */
  canEdit: z.boolean(),
  /** For administrators of the community edition only. */
  sharedWith: sharedWith.optional(),
  /** For a shared provider: the tiers of its models, as defined in its owner's catalogue. */
  modelTiers: z.array(modelTier).optional(),
  /** Name of the place where the provider processes data. */
  region: z.string().nullable(),
  /** Regions that stand-ins for its models may have; empty: any. */
  onlyRegions: z.array(z.string()),
  /** For editors, while the answering replica asks the provider rarely because it keeps failing. */
  outage: outage.optional(),
  createdAt: fields.timestamp,
  updatedAt: fields.timestamp,
  models: z.array(model),
});
export type Provider = z.infer<typeof provider>;

const apiKey = z
  .string()
  .trim()
  .min(1)
  .max(limits.apiKeyMax)
  .regex(/^[\x21-\x7e]+$/, 'Printable ASCII characters without spaces');
const region = line(1, limits.regionMax);
export const providerFields = {
  name: line(1, limits.providerNameMax),
  kind,
  /** A pasted endpoint, such as `/chat/completions`, is cut off. */
  baseUrl: fields.serverAddress.overwrite((address) => cutEndpoint(address).baseUrl),
  apiKey: apiKey.nullable(),
  headers: givenHeaders,
  enabled: z.boolean(),
  firstByteSeconds: z.number().int().min(limits.firstByteSecondsMin).max(limits.firstByteSecondsMax).nullable(),
  sharedWith,
  region: region.nullable(),
  onlyRegions: z.array(region).max(limits.regionsMax),
};
export const providerBody = z.object({
  name: providerFields.name,
  kind: kind.optional(),
  baseUrl: providerFields.baseUrl,
  apiKey: providerFields.apiKey.optional(),
  headers: providerFields.headers.optional(),
  enabled: providerFields.enabled.optional(),
  firstByteSeconds: providerFields.firstByteSeconds.optional(),
  sharedWith: providerFields.sharedWith.optional(),
  region: providerFields.region.optional(),
  onlyRegions: providerFields.onlyRegions.optional(),
});
export const providerPatchBody = z.object({ id: fields.id, ...z.object(providerFields).partial().shape });

export const modelFields = {
  providerId: fields.id,
  providerModelId: z.string().trim().min(1).max(limits.providerModelIdMax),
  displayName: line(1, limits.displayNameMax),
  contextWindow: z.number().int().min(1).max(limits.contextWindowMax),
  maxOutputTokens: z.number().int().min(1).max(limits.contextWindowMax),
  tier: z.number().int().min(1).max(limits.tierValueMax),
};
export const modelFlags = {
  enabled: z.boolean().optional(),
  isDefault: z.boolean().optional(),
  parameters: givenParameters.optional(),
  abilities: abilities.optional(),
  prices: prices.nullable().optional(),
};
/** Models that answer when this one fails. A manifest has no ids, so it has none of them. */
const standIns = {
  standIns: z
    .array(fields.id)
    .max(limits.standInsMax)
    .refine((ids) => new Set(ids).size === ids.length, 'A stand-in is named twice')
    .optional(),
};
/** Sources of the given facts; `person` by default. */
const factSources = { sources: sources.optional() };
/** The rule between two fields of a model, and its error message. */
export const outputFits = (model: { maxOutputTokens: number; contextWindow: number }) =>
  model.maxOutputTokens <= model.contextWindow;
export const outputTooLarge = { message: 'Must not exceed the context window', path: ['maxOutputTokens'] };
export const modelBody = z
  .object({ ...modelFields, ...modelFlags, ...standIns, ...factSources })
  .refine(outputFits, outputTooLarge);
export const modelPatchBody = z
  .object({
    id: fields.id,
    ...z.object(modelFields).omit({ providerId: true }).partial().shape,
    ...modelFlags,
    ...standIns,
    ...factSources,
  })
  .refine((body) => body.isDefault !== false, {
    message: 'Make another model the default instead',
    path: ['isDefault'],
  });

export const tierFields = {
  value: z.number().int().min(1).max(limits.tierValueMax),
  label: line(1, limits.tierLabelMax),
};
/** Tier definitions in display order (control-plane-api.md "Model tier definition"). */
export const tierList = (tier: z.ZodObject<typeof tierFields>) =>
  z
    .array(tier)
    .min(1)
    .max(limits.tierCountMax)
    .superRefine((tiers, context) => {
      const values = new Set<number>();
      const labels = new Set<string>();
      tiers.forEach((tier, index) => {
        const label = tier.label.toLowerCase();
        if (values.has(tier.value)) {
          context.addIssue({ code: 'custom', path: [index, 'value'], message: 'This value is used twice' });
        }
        if (labels.has(label)) {
          context.addIssue({ code: 'custom', path: [index, 'label'], message: 'This label is used twice' });
        }
        values.add(tier.value);
        labels.add(label);
      });
    });
/** A model server that answered on this machine. */
export const foundServer = z.object({
  name: z.string(),
  baseUrl: z.string(),
  models: z.number().int(),
  needsKey: z.boolean(),
});
export type FoundServer = z.infer<typeof foundServer>;
