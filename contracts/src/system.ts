import { z } from 'zod';
import { endpoint } from './endpoint.ts';

/** Health, public configuration for the browser before sign-in, and the OpenAPI description. */

export const branding = z.object({
  productName: z.string(),
  tagline: z.string(),
  logoDataUrl: z.string().nullable(),
  faviconDataUrl: z.string().nullable(),
  primaryColor: z.string(),
  primaryForegroundColor: z.string(),
});
export type Branding = z.infer<typeof branding>;

const publicConfig = z.object({
  branding,
  setup: z.object({ required: z.boolean(), claimRequired: z.boolean() }),
  sso: z.object({ providerKey: z.string(), label: z.string() }).nullable(),
  edition: z.enum(['community', 'managed']),
  limits: z.object({ artifactMaxUploadBytes: z.number().int() }),
});
type PublicConfig = z.infer<typeof publicConfig>;

/** Set while only administrators can write. */
const maintenance = z.object({ since: z.iso.datetime(), message: z.string().nullable() }).nullable();
export type Maintenance = z.infer<typeof maintenance>;

/** Bootstrap data embedded in the client's HTML, which saves the first requests. */
export type PageConfig = PublicConfig & { maintenance: Maintenance; version: string };

export const systemEndpoints = {
  getHealth: endpoint({
    method: 'GET',
    path: '/api/health',
    probe: true,
    access: 'public',
    summary: 'Readiness; 503 {ok: false} when the database is unreachable, and while the service stops',
    response: z.object({ ok: z.boolean() }),
    others: { 503: z.object({ ok: z.literal(false) }) },
  }),
  getLive: endpoint({
    method: 'GET',
    path: '/api/live',
    access: 'public',
    summary: 'Liveness of the process, independent of the database; for liveness probes',
    response: z.object({ ok: z.literal(true), version: z.string() }),
  }),
  getLiveStream: endpoint({
    method: 'GET',
    path: '/api/live/stream',
    access: 'public',
    summary: 'Four events, a third of a second apart: whether streams arrive piece by piece',
    response: 'events',
    errors: ['rate_limited'],
  }),
  getPublicConfig: endpoint({
    method: 'GET',
    path: '/api/public-config',
    access: 'public',
    summary: 'Branding, setup state and single sign-on, needed before sign-in',
    response: publicConfig,
  }),
  getMaintenance: endpoint({
    method: 'GET',
    path: '/api/maintenance',
    access: 'public',
    summary: 'Since when only administrators can write, and their message; null outside maintenance',
    response: z.object({ maintenance }),
  }),
  getOpenapi: endpoint({
    method: 'GET',
    path: '/api/openapi.json',
    access: 'public',
    summary: 'This API as OpenAPI 3.1',
    response: z.looseObject({ openapi: z.string() }),
  }),
  getDocs: endpoint({
    method: 'GET',
    path: '/api/docs',
    access: 'public',
    summary: 'This API as a page',
    response: 'file',
  }),
  getDocsAsset: endpoint({
    method: 'GET',
    path: '/api/docs/:file',
    access: 'public',
    summary: 'Scripts and styles of that page',
    params: z.object({ file: z.string().max(64) }),
    response: 'file',
    errors: ['not_found'],
  }),
} as const;
