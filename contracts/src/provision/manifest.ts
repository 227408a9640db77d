import { z } from 'zod';
import { aboutMe } from '../accounts/accounts.ts';
import { oidcPatch } from '../accounts/single-sign-on.ts';
import { brandingPatch } from '../admin.ts';
import { assistantContent } from '../assistants.ts';
import {
  modelFields,
  modelFlags,
  outputFits,
  outputTooLarge,
  providerFields,
  tierFields,
  tierList,
} from '../catalogue/catalogue.ts';
import { abilities, prices } from '../catalogue/model-facts.ts';
import { title } from '../chat/conversations.ts';
import { parameters } from '../chat/parameters.ts';
import { turnBudget } from '../chat/turn-budget.ts';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';
import { mcpOfferFields } from '../mcp/offers.ts';
import { promptFields } from '../prompts.ts';
import { manifestPart } from './manifest-parts.ts';

/**
 * The installation manifest, version 1 (control-plane-api.md "Apply an installation manifest", contract.md section 9).
 */

/**
 * Placeholder that an export writes for a secret. Applying it keeps the stored value; if there is none, nothing is set
 * and the result contains a warning. It is not a valid password, API key or header value.
 */
export const secretPlaceholder = '<secret: not exported>';

/** A secret that follows its own rules, or the placeholder. */
const secret = (schema: z.ZodType<string, string>) =>
  z
    .string()
    .superRefine((value, context) => {
      if (value === secretPlaceholder) return;
      for (const { message } of schema.safeParse(value).error?.issues ?? []) context.addIssue(message);
    })
    .transform((value) => (value === secretPlaceholder ? value : schema.parse(value)));

const modelTiers = tierList(z.strictObject(tierFields));

const manifestStandIn = z.strictObject({
  provider: providerFields.name,
  providerModelId: modelFields.providerModelId,
});
export type ManifestStandIn = z.output<typeof manifestStandIn>;

const manifestModel = z
  .strictObject({
    providerModelId: modelFields.providerModelId,
    displayName: modelFields.displayName,
    contextWindow: modelFields.contextWindow,
    maxOutputTokens: modelFields.maxOutputTokens,
    tier: modelFields.tier,
    ...modelFlags,
    parameters: z.strictObject(parameters.shape).optional(),
    abilities: z.strictObject(abilities.shape).optional(),
    prices: z.strictObject(prices.shape).nullable().optional(),
    /** Models of the same owner that answer when this one's provider fails, in order. */
    standIns: z.array(manifestStandIn).max(limits.standInsMax).optional(),
  })
  .refine(outputFits, outputTooLarge);
export type ManifestModel = z.output<typeof manifestModel>;

const manifestProvider = z.strictObject({
  name: providerFields.name,
  kind: providerFields.kind.optional(),
  baseUrl: providerFields.baseUrl,
  apiKey: secret(providerFields.apiKey.unwrap()).nullable().optional(),
  headers: providerFields.headers.optional(),
  enabled: providerFields.enabled.optional(),
  firstByteSeconds: providerFields.firstByteSeconds.optional(),
  region: providerFields.region.optional(),
  onlyRegions: providerFields.onlyRegions.optional(),
  /** Under an administrator in the community edition only. */
  sharedWith: z
    .union([z.enum(['none', 'everyone']), z.strictObject({ emails: z.array(fields.email).max(limits.sharedUsersMax) })])
    .optional(),
  models: z.array(manifestModel).max(limits.modelsPerProvider),
});
export type ManifestProvider = z.output<typeof manifestProvider>;

const providers = z.array(manifestProvider).max(limits.providersPerOwner);

export const manifestUser = z.strictObject({
  email: fields.email,
  name: fields.personName,
  role: fields.role.optional(),
  password: secret(fields.newPassword).optional(),
  enabled: z.boolean().optional(),
  providerSettingsEnabled: z.boolean().optional(),
  mcpSettingsEnabled: z.boolean().optional(),
  instructions: fields.instructions.optional(),
  aboutMe: z.strictObject(aboutMe.shape).partial().optional(),
  modelTiers: modelTiers.optional(),
  providers: providers.optional(),
});
export type ManifestUser = z.output<typeof manifestUser>;

const manifestMessage = z.strictObject({
  id: fields.clientId,
  role: z.enum(['user', 'assistant']),
  parts: z.array(manifestPart).max(limits.manifestPartsMax),
  createdAt: fields.givenTime.optional(),
});
export type ManifestMessage = z.output<typeof manifestMessage>;

export const manifestConversation = z.strictObject({
  id: fields.clientId,
  ownerEmail: fields.email,
  title,
  archived: z.boolean().optional(),
  createdAt: fields.givenTime.optional(),
  instructions: fields.instructions.optional(),
  parameters: z.strictObject(parameters.shape).optional(),
  messages: z.array(manifestMessage),
});
export type ManifestConversation = z.output<typeof manifestConversation>;

const manifestAudience = z.enum(['me', 'everyone']);

/**
 * `model` names one of the owner's; without `provider`, whichever model of this id a reader has. A manifest has no MCP
 * servers, so an assistant uses `all` of its reader's or `none`.
 */
export const manifestAssistant = z.strictObject({
  ownerEmail: fields.email,
  name: assistantContent.name,
  audience: manifestAudience.optional(),
  description: assistantContent.description.optional(),
  icon: assistantContent.icon.optional(),
  instructions: assistantContent.instructions.optional(),
  model: z
    .strictObject({ provider: providerFields.name.optional(), providerModelId: modelFields.providerModelId })
    .nullable()
    .optional(),
  tier: assistantContent.tier.optional(),
  parameters: z.strictObject(parameters.shape).optional(),
  mcpServers: z.enum(['all', 'none']).optional(),
  workspace: assistantContent.workspace.optional(),
  starters: assistantContent.starters.optional(),
});
export type ManifestAssistant = z.output<typeof manifestAssistant>;

export const manifestPrompt = z.strictObject({
  ownerEmail: fields.email,
  ...promptFields,
  title: promptFields.title.optional(),
  audience: manifestAudience.optional(),
});
export type ManifestPrompt = z.output<typeof manifestPrompt>;

/** An MCP server that is offered to everybody; each person's credentials, trust and sign-in are in no manifest. */
const manifestMcpOffer = z.strictObject({
  ...z.object(mcpOfferFields).partial().shape,
  name: mcpOfferFields.name,
});
export type ManifestMcpOffer = z.output<typeof manifestMcpOffer>;

/** The manifest without the lists that are parsed item by item. */
export const manifestHead = z.strictObject({
  version: z.literal(1, { error: 'The manifest version must be 1' }),
  branding: z.strictObject(brandingPatch.shape).optional(),
  oidc: z
    .strictObject({
      ...oidcPatch.shape,
      clientSecret: secret(oidcPatch.shape.clientSecret.unwrap().unwrap()).nullable().optional(),
    })
    .optional(),
  instructions: fields.instructions.optional(),
  turnBudget: z.strictObject(turnBudget.shape).partial().optional(),
  mcpOffers: z.array(manifestMcpOffer).max(limits.mcpOffers).optional(),
  modelTiers: modelTiers.optional(),
  providers: providers.optional(),
});
export type ManifestHead = z.output<typeof manifestHead>;

export const manifest = manifestHead.extend({
  users: z.array(manifestUser).max(limits.manifestUsersMax).optional(),
  assistants: z.array(manifestAssistant).optional(),
  prompts: z.array(manifestPrompt).optional(),
  conversations: z.array(manifestConversation).optional(),
});
