import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';
import { line } from '../text/line.ts';
import { connecting, offerTrustBody, serverFields } from './mcp.ts';

/**
 * MCP servers that administrators offer to everybody. Each person adds and signs in for themselves, and reviews the
 * tools unless an administrator has trusted them for everybody.
 */

const headerName = z
  .string()
  .min(1)
  .max(limits.headerNameMax)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'Not a valid header name');
const envName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
  .max(limits.mcpEnvNameMax);

export const mcpOfferFields = {
  name: serverFields.name,
  description: line(0, limits.mcpOfferDescriptionMax),
  url: serverFields.url,
  transport: serverFields.transport,
  command: serverFields.command,
  args: serverFields.args,
  clientId: serverFields.clientId,
  /** Headers and environment variables that each person enters for themselves. */
  headerNames: z.array(headerName).max(limits.headerCount),
  envNames: z.array(envName).max(limits.mcpEnvMax),
};
const optional = z.object(mcpOfferFields).partial().shape;
/** `url`, or for stdio `command`, is required. */
const mcpOfferBody = z.object({ ...optional, name: mcpOfferFields.name });
const mcpOfferPatchBody = z.object({ id: fields.id, ...optional });
export type NewMcpOffer = z.output<typeof mcpOfferBody>;
export type McpOfferPatch = z.output<typeof mcpOfferPatchBody>;

const mcpOffer = z.object({
  id: fields.id,
  name: z.string(),
  description: z.string(),
  /** Empty for stdio. */
  url: z.string(),
  transport: z.enum(['http', 'sse', 'stdio']),
  command: z.string().nullable(),
  args: z.array(z.string()).nullable(),
  clientId: z.string().nullable(),
  headerNames: z.array(z.string()),
  envNames: z.array(z.string()),
  /** Set while an administrator's trust counts for everybody; `trustedBy` is null after their account is deleted. */
  trustedFingerprint: z.string().nullable(),
  trustedBy: z.string().nullable(),
  trustedAt: fields.timestamp.nullable(),
  createdAt: fields.timestamp,
});
export type McpOffer = z.infer<typeof mcpOffer>;

/** `serverId`: the server that the caller made of it. */
const offered = mcpOffer.extend({ serverId: fields.id.nullable() });
export type OfferedMcpServer = z.infer<typeof offered>;
/** `servers`: how many people have added it. `drifted`: for how many of them the tools trusted here have changed. */
const counted = mcpOffer.extend({ servers: z.number().int(), drifted: z.number().int() });
export type CountedMcpOffer = z.infer<typeof counted>;

export const mcpOfferEndpoints = {
  getMcpOffers: endpoint({
    method: 'GET',
    path: '/api/mcp/offers',
    access: 'session',
    summary: 'The MCP servers offered to everybody, and which of them the caller has added; POST /api/mcp adds one',
    response: z.object({ offers: z.array(offered) }),
  }),
  getAdminMcpOffers: endpoint({
    method: 'GET',
    path: '/api/admin/mcp/offers',
    access: 'admin',
    scope: 'admin:read',
    summary: 'The MCP servers offered to everybody, and how many people have added each',
    response: z.object({ offers: z.array(counted) }),
  }),
  postAdminMcpOffer: endpoint({
    method: 'POST',
    path: '/api/admin/mcp/offers',
    access: 'admin',
    summary: 'Offers an MCP server to everybody: its address or program, never credentials',
    body: mcpOfferBody,
    bodyBytes: limits.credentialBodyBytes,
    response: z.object({ offer: counted }),
    status: 201,
  }),
  patchAdminMcpOffer: endpoint({
    method: 'PATCH',
    path: '/api/admin/mcp/offers',
    access: 'admin',
    summary:
      'Changes an offer; another address or program ends the trust and the sign-ins of everybody who has added it',
    body: mcpOfferPatchBody,
    bodyBytes: limits.credentialBodyBytes,
    response: z.object({ offer: counted }),
    errors: ['not_found'],
  }),
  deleteAdminMcpOffer: endpoint({
    method: 'DELETE',
    path: '/api/admin/mcp/offers',
    access: 'admin',
    summary: 'Withdraws an offer: it is removed from everybody, with trust, sign-ins and credentials',
    query: z.object({ id: fields.id }),
    response: fields.ok,
    errors: ['not_found'],
  }),
  postAdminMcpOfferTrust: endpoint({
    method: 'POST',
    path: '/api/admin/mcp/offers/trust',
    access: 'admin',
    summary:
      'Trusts the reviewed tools of an offer for everybody: lists them again with the caller’s own server of this offer; only if the fingerprint still matches',
    body: offerTrustBody,
    response: z.object({ offer: counted }),
    errors: [...connecting, 'mcp_tools_changed'],
  }),
  deleteAdminMcpOfferTrust: endpoint({
    method: 'DELETE',
    path: '/api/admin/mcp/offers/trust',
    access: 'admin',
    summary: 'Ends the trust for everybody, at once and during answers; trust that people gave themselves stays',
    query: z.object({ id: fields.id }),
    response: fields.ok,
    errors: ['not_found'],
  }),
} as const;
