import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';

/** The registry of facts on models: the one that comes with Homeport, or a newer one that an administrator uploads. */

const registryState = z.object({
  /** Source of the facts, its date and its license. */
  source: z.string(),
  models: z.number().int(),
  /** Null: it came with Homeport. */
  uploadedAt: fields.timestamp.nullable(),
});

export const modelRegistryEndpoints = {
  getModelRegistry: endpoint({
    method: 'GET',
    path: '/api/admin/model-registry',
    access: 'admin',
    scope: 'admin:read',
    summary: 'The registry of facts on models that providers do not report',
    response: registryState,
  }),
  putModelRegistry: endpoint({
    method: 'PUT',
    path: '/api/admin/model-registry',
    access: 'admin',
    scope: 'admin:write',
    summary: 'Uploads a newer registry of models (docs/models.md); models that exist stay as they are',
    body: z.object({ source: z.string().min(1).max(500), providers: z.record(z.string(), z.unknown()) }),
    bytes: ['application/json'],
    bodyBytes: limits.registryBytes,
    response: registryState,
  }),
  deleteModelRegistry: endpoint({
    method: 'DELETE',
    path: '/api/admin/model-registry',
    access: 'admin',
    scope: 'admin:write',
    summary: 'Goes back to the registry that comes with Homeport',
    response: registryState,
  }),
} as const;
