import { z } from 'zod';
import { providerFields } from '../catalogue/catalogue.ts';
import { endpoint } from '../endpoint.ts';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';
import { line } from '../text/line.ts';

/** MCP servers and the trust in their tools (contract.md section 7). */

const mcpTool = z.object({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.unknown(),
  outputSchema: z.unknown().optional(),
  annotations: z.unknown().optional(),
});
export type McpTool = z.infer<typeof mcpTool>;

const toolPolicy = z.enum(['allow', 'ask', 'deny']);
export type ToolPolicy = z.infer<typeof toolPolicy>;

export const mcpServer = z.object({
  id: fields.id,
  name: z.string(),
  /** Empty for stdio. */
  url: z.string(),
  transport: z.enum(['http', 'sse', 'stdio']),
  /** Of a server that is a program in its owner's workspace; otherwise null. */
  command: z.string().nullable(),
  args: z.array(z.string()).nullable(),
  hasEnv: z.boolean(),
  /** Version that the server reported at the last connection. */
  version: z.string().nullable(),
  enabled: z.boolean(),
  hasHeaders: z.boolean(),
  /** State of the OAuth sign-in: not required, required, or done. */
  connection: z.enum(['none', 'needed', 'connected']),
  /** The OAuth client that was given for this server; without one, Homeport introduces itself. */
  clientId: z.string().nullable(),
  hasClientSecret: z.boolean(),
  tools: z.array(mcpTool),
  trustState: z.enum(['untrusted', 'trusted', 'drifted']),
  fingerprint: z.string().nullable(),
  trustedFingerprint: z.string().nullable(),
  /** The trust is the offer's: an administrator reviewed the tools for everyone. */
  trustedWithOffer: z.boolean(),
  /** Texts that the server changes with each listing, as JSON pointers: models get the trusted ones. */
  volatileTexts: z.array(z.string()),
  toolPolicies: z.record(z.string(), toolPolicy),
  lastTestedAt: fields.timestamp.nullable(),
  lastError: z.string().nullable(),
  /** Set when the stored headers cannot be decrypted with the current key. */
  credentialsError: z.literal('credentials_unreadable').optional(),
  /**
   * Set when stored credentials were entered for this other origin: they stay stored but are not sent anywhere else.
   */
  credentialsOrigin: z.string().optional(),
  /** The offer that it was added from; its address or program are changed there. */
  offerId: fields.id.nullable(),
  createdAt: fields.timestamp,
});
export type McpServer = z.infer<typeof mcpServer>;

const mcpServerDetail = mcpServer.extend({
  headers: z.record(z.string(), z.string()),
  env: z.record(z.string(), z.string()),
});
export type McpServerDetail = z.infer<typeof mcpServerDetail>;

/** Difference between the trusted definitions and those just listed. */
const mcpDrift = z.object({
  changed: z.boolean(),
  added: z.array(mcpTool),
  removed: z.array(mcpTool),
  modified: z.array(z.object({ name: z.string(), before: mcpTool, after: mcpTool })),
});
export type McpDrift = z.infer<typeof mcpDrift>;

const programText = z.string();

export const serverFields = {
  name: line(1, limits.mcpServerNameMax),
  url: fields.serverAddress,
  transport: z.enum(['http', 'sse', 'stdio']),
  command: programText.min(1).max(limits.mcpCommandMax),
  args: z.array(programText.max(limits.mcpArgMax)).max(limits.mcpArgsMax),
  env: z
    .record(
      z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
        .max(limits.mcpEnvNameMax),
      programText.max(limits.mcpEnvValueMax),
    )
    .meta({ maxProperties: limits.mcpEnvMax }),
  headers: providerFields.headers,
  clientId: line(1, limits.oauthClientIdMax).nullable(),
  clientSecret: z.string().min(1).max(limits.oauthClientSecretMax).nullable(),
  enabled: z.boolean(),
  toolPolicies: z
    .record(z.string().min(1).max(limits.mcpToolNameMax), toolPolicy)
    .meta({ maxProperties: limits.mcpToolsPerServer }),
};
const optional = z.object(serverFields).partial().shape;
/** `url`, or for stdio `command`, or `offerId` is required. */
export const mcpServerBody = z.object({
  ...optional,
  name: serverFields.name,
  /** Adds a server that is offered to everybody: its address or program are the offer's, and may not be given. */
  offerId: fields.id.optional(),
});
export const mcpServerPatchBody = z.object({ id: fields.id, ...optional });

const byId = z.object({ id: fields.id });
/** A malformed one is simply a fingerprint that differs. */
const reviewedFingerprint = z.string().max(limits.fingerprintMax);
const trustBody = z.object({
  id: fields.id,
  fingerprint: reviewedFingerprint.optional(),
  /** Texts, as JSON pointers, whose later changes are ignored; only if they change between two listings. */
  volatileTexts: z.array(z.string().max(limits.mcpVolatileTextMax)).max(limits.mcpVolatileTexts).optional(),
});
export const offerTrustBody = trustBody.extend({ fingerprint: reviewedFingerprint });
const userId = { userId: fields.id };
const list = z.union([
  z.object({ servers: z.array(mcpServer), canEdit: z.boolean() }),
  z.object({ server: mcpServerDetail, canEdit: z.boolean() }),
]);
const one = z.object({ server: mcpServer });
const tested = z.object({ server: mcpServer, drift: mcpDrift });
const connectBody = z.object({
  id: fields.id,
  /** Page of this installation to return to; the page of tools by default. */
  returnTo: z.string().min(1).max(limits.returnToMax).optional(),
});
export const connecting = ['not_found', 'blocked_destination', 'mcp_unreachable', 'credentials_unreadable'] as const;

/** A client id metadata document; `client_id` is its own address. */
const mcpClient = z.object({
  client_id: z.string(),
  client_name: z.string(),
  client_uri: z.string(),
  redirect_uris: z.array(z.string()),
  grant_types: z.array(z.string()),
  response_types: z.array(z.string()),
  token_endpoint_auth_method: z.literal('none'),
  application_type: z.literal('web'),
});

export const mcpEndpoints = {
  getMcpServers: endpoint({
    method: 'GET',
    path: '/api/mcp',
    access: 'session',
    summary: 'The MCP servers, never header values; with ?id= one with its headers (editors only)',
    query: z.object({ id: fields.id.optional() }),
    response: list,
    errors: ['not_found', 'mcp_settings_disabled', 'credentials_unreadable'],
  }),
  postMcpServer: endpoint({
    method: 'POST',
    path: '/api/mcp',
    access: 'mcp-editor',
    summary: 'Adds a server, connects and lists its tools; it needs test and trust before use',
    body: mcpServerBody,
    bodyBytes: limits.credentialBodyBytes,
    response: one,
    status: 201,
    errors: ['not_found'],
  }),
  patchMcpServer: endpoint({
    method: 'PATCH',
    path: '/api/mcp',
    access: 'mcp-editor',
    summary: 'Changes a server; url, transport or headers need renewed trust; omitted headers stay, {} clears them',
    body: mcpServerPatchBody,
    bodyBytes: limits.credentialBodyBytes,
    response: one,
    errors: ['not_found'],
  }),
  deleteMcpServer: endpoint({
    method: 'DELETE',
    path: '/api/mcp',
    access: 'mcp-editor',
    summary: 'Removes a server',
    query: byId,
    response: fields.ok,
    errors: ['not_found'],
  }),
  postMcpTest: endpoint({
    method: 'POST',
    path: '/api/mcp/test',
    access: 'mcp-editor',
    summary: 'Lists the tools again and reports drift; grants no trust',
    body: byId,
    response: tested,
    errors: connecting,
  }),
  postMcpTrust: endpoint({
    method: 'POST',
    path: '/api/mcp/trust',
    access: 'mcp-editor',
    summary: 'Lists the tools again and trusts them; with fingerprint only if it still matches',
    body: trustBody,
    response: one,
    errors: [...connecting, 'mcp_tools_changed'],
  }),
  deleteMcpTrust: endpoint({
    method: 'DELETE',
    path: '/api/mcp/trust',
    access: 'mcp-editor',
    summary: 'Withdraws the trust in a server, also one that came with its offer: its tools are not used any more',
    query: byId,
    response: fields.ok,
    errors: ['not_found'],
  }),

  postMcpConnect: endpoint({
    method: 'POST',
    path: '/api/mcp/connect',
    access: 'session',
    summary: 'Begins an OAuth sign-in to an own server: returns the URL to open in the browser',
    body: connectBody,
    response: z.object({ authorizeUrl: z.string() }),
    errors: connecting,
  }),
  deleteMcpConnect: endpoint({
    method: 'DELETE',
    path: '/api/mcp/connect',
    access: 'session',
    summary: 'Signs out of a server: its tokens are forgotten, here and, where it offers that, there',
    query: byId,
    response: one,
    errors: ['not_found'],
  }),
  getMcpCallback: endpoint({
    method: 'GET',
    path: '/api/mcp/oauth/callback',
    access: 'session',
    summary: 'Redirect URI of the authorization server: redirects to returnTo with ?mcp= or ?error=',
    query: z.object({
      state: z.string().max(limits.oauthAnswerMax).optional(),
      code: z.string().max(limits.oauthAnswerMax).optional(),
      iss: z.string().max(limits.oauthAnswerMax).optional(),
      error: z.string().max(limits.oauthAnswerMax).optional(),
    }),
    response: 'file',
    others: { 302: 'empty' },
  }),
  getMcpClient: endpoint({
    method: 'GET',
    path: '/api/mcp/oauth/client',
    access: 'public',
    summary: 'The OAuth client id metadata document of this installation',
    response: mcpClient,
  }),

  getUserMcpServers: endpoint({
    method: 'GET',
    path: '/api/admin/mcp',
    access: 'admin-for-user',
    scope: 'admin:read',
    summary: "A user's MCP servers",
    query: z.object({ ...userId, id: fields.id.optional() }),
    response: list,
    errors: ['not_found', 'credentials_unreadable'],
  }),
  postUserMcpServer: endpoint({
    method: 'POST',
    path: '/api/admin/mcp',
    access: 'admin-for-user',
    summary: 'Adds a server for a user',
    query: z.object(userId),
    body: mcpServerBody,
    bodyBytes: limits.credentialBodyBytes,
    response: one,
    status: 201,
    errors: ['not_found'],
  }),
  patchUserMcpServer: endpoint({
    method: 'PATCH',
    path: '/api/admin/mcp',
    access: 'admin-for-user',
    summary: "Changes a user's server",
    query: z.object(userId),
    body: mcpServerPatchBody,
    bodyBytes: limits.credentialBodyBytes,
    response: one,
    errors: ['not_found'],
  }),
  deleteUserMcpServer: endpoint({
    method: 'DELETE',
    path: '/api/admin/mcp',
    access: 'admin-for-user',
    summary: "Removes a user's server",
    query: z.object({ ...userId, id: fields.id }),
    response: fields.ok,
    errors: ['not_found'],
  }),
  postUserMcpTest: endpoint({
    method: 'POST',
    path: '/api/admin/mcp/test',
    access: 'admin-for-user',
    summary: "Tests a user's server",
    query: z.object(userId),
    body: byId,
    response: tested,
    errors: connecting,
  }),
  postUserMcpTrust: endpoint({
    method: 'POST',
    path: '/api/admin/mcp/trust',
    access: 'admin-for-user',
    summary: "Trusts the tools of a user's server",
    query: z.object(userId),
    body: trustBody,
    response: one,
    errors: [...connecting, 'mcp_tools_changed'],
  }),
} as const;
