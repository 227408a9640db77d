import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';
import {
  foundServer,
  model,
  modelBody,
  modelPatchBody,
  modelTier,
  provider,
  providerBody,
  providerFields,
  providerPatchBody,
  tierFields,
  tierList,
} from './catalogue.ts';
import { listedModel } from './model-facts.ts';

/** Endpoints of providers, models and tiers: for the caller's catalogue, and for administrators who edit a user's. */

const modelTiersBody = z.object({ tiers: tierList(z.object(tierFields)) });

const modelTiers = z.object({ modelTiers: z.array(modelTier) });
const byId = z.object({ id: fields.id });
const defaultModelId = fields.id.nullable();
const catalogue = z.object({
  providers: z.array(provider),
  canEdit: z.boolean(),
  /** The catalogue's own tiers, then those that only shared models have. */
  modelTiers: z.array(modelTier),
});
const ofUser = z.object({ userId: fields.id });
const byIdOfUser = z.object({ userId: fields.id, id: fields.id });
const providerTestBody = z.union([
  z.object({ id: fields.id }),
  z.object({
    kind: providerFields.kind.optional(),
    baseUrl: providerFields.baseUrl,
    apiKey: providerFields.apiKey.optional(),
    headers: providerFields.headers.optional(),
  }),
]);
const providerTested = z.object({ ok: z.literal(true), models: z.array(listedModel) });
const providerTestFailures = [
  'not_found',
  'blocked_destination',
  'provider_error',
  'provider_unreachable',
  'credentials_unreadable',
] as const;

export const catalogueEndpoints = {
  getProviders: endpoint({
    method: 'GET',
    path: '/api/providers',
    access: 'session',
    summary: 'The catalogue: providers with their models, and the ordered tiers',
    response: catalogue,
  }),
  postProvider: endpoint({
    method: 'POST',
    path: '/api/providers',
    access: 'provider-editor',
    summary: 'Adds a provider',
    body: providerBody,
    bodyBytes: limits.credentialBodyBytes,
    response: z.object({ provider }),
    status: 201,
    errors: ['not_found', 'forbidden'],
  }),
  patchProvider: endpoint({
    method: 'PATCH',
    path: '/api/providers',
    access: 'provider-editor',
    summary: 'Changes a provider; an omitted API key stays, null clears it',
    body: providerPatchBody,
    bodyBytes: limits.credentialBodyBytes,
    response: z.object({ provider, defaultModelId }),
    errors: ['not_found', 'forbidden'],
  }),
  deleteProvider: endpoint({
    method: 'DELETE',
    path: '/api/providers',
    access: 'provider-editor',
    summary: 'Deletes a provider and its models',
    query: byId,
    response: z.object({ ok: z.literal(true), defaultModelId }),
    errors: ['not_found'],
  }),
  postProviderTest: endpoint({
    method: 'POST',
    path: '/api/providers/test',
    access: 'provider-editor',
    summary: 'Fetches the list of models through the outbound guard',
    body: providerTestBody,
    bodyBytes: limits.credentialBodyBytes,
    response: providerTested,
    errors: providerTestFailures,
  }),
  postFindProviders: endpoint({
    method: 'POST',
    path: '/api/providers/find',
    access: 'provider-editor',
    summary: 'Looks for model servers at their well-known ports on this machine, if the outbound guard allows it',
    /** `allowed` is false when the operator has not opened private addresses and plain HTTP. */
    response: z.object({ allowed: z.boolean(), servers: z.array(foundServer) }),
  }),
  postModel: endpoint({
    method: 'POST',
    path: '/api/models',
    access: 'provider-editor',
    summary: 'Adds a model; the first enabled one becomes the default',
    body: modelBody,
    response: z.object({ model }),
    status: 201,
    errors: ['not_found'],
  }),
  patchModel: endpoint({
    method: 'PATCH',
    path: '/api/models',
    access: 'provider-editor',
    summary: 'Changes a model, makes it the default, enables or disables it',
    body: modelPatchBody,
    response: z.object({ model, defaultModelId }),
    errors: ['not_found'],
  }),
  deleteModel: endpoint({
    method: 'DELETE',
    path: '/api/models',
    access: 'provider-editor',
    summary: 'Deletes a model',
    query: byId,
    response: z.object({ ok: z.literal(true), defaultModelId }),
    errors: ['not_found'],
  }),
  getModelTiers: endpoint({
    method: 'GET',
    path: '/api/model-tiers',
    access: 'session',
    summary:
      "The ordered tiers of the own catalogue, which its models can have, without those of others' shared models",
    response: modelTiers,
  }),
  putModelTiers: endpoint({
    method: 'PUT',
    path: '/api/model-tiers',
    access: 'provider-editor',
    summary: 'Replaces the tier definitions',
    body: modelTiersBody,
    response: modelTiers,
    errors: ['tier_in_use'],
  }),

  getUserProviders: endpoint({
    method: 'GET',
    path: '/api/admin/providers',
    access: 'admin-for-user',
    edition: 'community',
    summary: "A user's catalogue (community edition)",
    query: ofUser,
    response: catalogue,
    errors: ['not_found'],
  }),
  postUserProvider: endpoint({
    method: 'POST',
    path: '/api/admin/providers',
    access: 'admin-for-user',
    edition: 'community',
    summary: 'Adds a provider for a user',
    query: ofUser,
    body: providerBody,
    bodyBytes: limits.credentialBodyBytes,
    response: z.object({ provider }),
    status: 201,
    errors: ['not_found', 'forbidden'],
  }),
  patchUserProvider: endpoint({
    method: 'PATCH',
    path: '/api/admin/providers',
    access: 'admin-for-user',
    edition: 'community',
    summary: "Changes a user's provider",
    query: ofUser,
    body: providerPatchBody,
    bodyBytes: limits.credentialBodyBytes,
    response: z.object({ provider, defaultModelId }),
    errors: ['not_found', 'forbidden'],
  }),
  deleteUserProvider: endpoint({
    method: 'DELETE',
    path: '/api/admin/providers',
    access: 'admin-for-user',
    edition: 'community',
    summary: "Deletes a user's provider and its models",
    query: byIdOfUser,
    response: z.object({ ok: z.literal(true), defaultModelId }),
    errors: ['not_found'],
  }),
  postUserProviderTest: endpoint({
    method: 'POST',
    path: '/api/admin/providers/test',
    access: 'admin-for-user',
    edition: 'community',
    summary: "Tests a user's provider and discovers its models",
    query: ofUser,
    body: providerTestBody,
    bodyBytes: limits.credentialBodyBytes,
    response: providerTested,
    errors: providerTestFailures,
  }),
  postUserModel: endpoint({
    method: 'POST',
    path: '/api/admin/models',
    access: 'admin-for-user',
    edition: 'community',
    summary: 'Adds a model for a user',
    query: ofUser,
    body: modelBody,
    response: z.object({ model }),
    status: 201,
    errors: ['not_found'],
  }),
  patchUserModel: endpoint({
    method: 'PATCH',
    path: '/api/admin/models',
    access: 'admin-for-user',
    edition: 'community',
    summary: "Changes a user's model",
    query: ofUser,
    body: modelPatchBody,
    response: z.object({ model, defaultModelId }),
    errors: ['not_found'],
  }),
  deleteUserModel: endpoint({
    method: 'DELETE',
    path: '/api/admin/models',
    access: 'admin-for-user',
    edition: 'community',
    summary: "Deletes a user's model",
    query: byIdOfUser,
    response: z.object({ ok: z.literal(true), defaultModelId }),
    errors: ['not_found'],
  }),
  getUserModelTiers: endpoint({
    method: 'GET',
    path: '/api/admin/model-tiers',
    access: 'admin-for-user',
    edition: 'community',
    summary: "A user's ordered tiers",
    query: ofUser,
    response: modelTiers,
    errors: ['not_found'],
  }),
  putUserModelTiers: endpoint({
    method: 'PUT',
    path: '/api/admin/model-tiers',
    access: 'admin-for-user',
    edition: 'community',
    summary: "Replaces a user's tier definitions",
    query: ofUser,
    body: modelTiersBody,
    response: modelTiers,
    errors: ['not_found', 'tier_in_use'],
  }),
} as const;
