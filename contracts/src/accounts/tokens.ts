import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';
import { line } from '../text/line.ts';
import { tokenScopes } from './token-scopes.ts';

/** Personal access tokens (contract.md section 12). No token can call these endpoints: none of them has a scope. */

const scope = z.enum(tokenScopes);

/** A token without its secret. */
const accessToken = z.object({
  id: fields.id,
  name: z.string(),
  scopes: z.array(scope),
  /** The first characters of the secret, by which its owner recognizes it. */
  start: z.string(),
  createdAt: fields.timestamp,
  /** With the longest life of the installation (`tokenMaxDays`) taken into account; null: it has no end. */
  expiresAt: fields.timestamp.nullable(),
  /** Exact to five minutes. */
  lastUsedAt: fields.timestamp.nullable(),
  lastUsedAddress: z.string().nullable(),
});
export type AccessToken = z.infer<typeof accessToken>;

const userToken = accessToken.extend({
  user: z.object({ id: fields.id, name: z.string(), email: z.string() }),
});
export type UserToken = z.infer<typeof userToken>;

export const tokenBody = z.object({
  name: line(1, limits.tokenNameMax),
  scopes: z
    .array(scope)
    .min(1)
    .max(limits.tokenScopesMax)
    .transform((given) => tokenScopes.filter((each) => given.includes(each))),
  /** Null: no end. Without it, the token ends after 90 days, or after `tokenMaxDays` if that is less. */
  expiresAt: fields.givenTime.nullable().optional(),
});

export const tokenEndpoints = {
  getMyTokens: endpoint({
    method: 'GET',
    path: '/api/me/tokens',
    access: 'session',
    summary: "Lists the user's access tokens, newest first",
    response: z.object({
      tokens: z.array(accessToken),
      /** Whether the user may create tokens, and their longest life; null: any. */
      allowed: z.boolean(),
      maxDays: z.number().int().nullable(),
    }),
  }),
  postMyToken: endpoint({
    method: 'POST',
    path: '/api/me/tokens',
    access: 'session',
    summary: 'Creates an access token; its secret appears this once',
    body: tokenBody,
    response: z.object({ token: accessToken, secret: z.string() }),
    status: 201,
    errors: ['forbidden'],
  }),
  deleteMyToken: endpoint({
    method: 'DELETE',
    path: '/api/me/tokens',
    access: 'session',
    summary: 'Deletes an access token; its open streams end within five seconds',
    query: z.object({ id: fields.id }),
    response: fields.ok,
    errors: ['not_found'],
  }),
  getAdminTokens: endpoint({
    method: 'GET',
    path: '/api/admin/tokens',
    access: 'admin',
    summary: 'Lists the access tokens of all users, newest first, a page at a time',
    query: z.object({ limit: fields.pageLimit, cursor: fields.cursor }),
    response: z.object({ tokens: z.array(userToken), nextCursor: z.string().nullable() }),
  }),
  deleteAdminToken: endpoint({
    method: 'DELETE',
    path: '/api/admin/tokens',
    access: 'admin',
    summary: "Deletes any user's access token",
    query: z.object({ id: fields.id }),
    response: fields.ok,
    errors: ['not_found'],
  }),
} as const;
