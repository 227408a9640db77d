import { z } from 'zod';
import { oidcCheck, oidcConfiguration, oidcPatch } from './accounts/single-sign-on.ts';
import { turnBudget } from './chat/turn-budget.ts';
import { endpoint } from './endpoint.ts';
import * as fields from './fields.ts';
import { limits } from './limits.ts';
import { peopleSearch } from './projects.ts';
import { sharingPolicy } from './sharing.ts';
import { branding } from './system.ts';
import { line } from './text/line.ts';

/** Users, invitations, branding, OIDC and the audit log (contract.md sections 3 and 10). */

/** A user as administrators see them. */
const managedUser = fields.user.extend({
  createdAt: fields.timestamp,
  /** Latest use of any session; null: never signed in, or signed out everywhere. */
  lastSeenAt: fields.timestamp.nullable(),
  /** Without a password, an account can sign in only by OIDC. */
  hasPassword: z.boolean(),
});
export type ManagedUser = z.infer<typeof managedUser>;

const switches = {
  providerSettingsEnabled: z.boolean().optional(),
  mcpSettingsEnabled: z.boolean().optional(),
};

export const userBody = z.object({
  name: fields.personName,
  email: fields.email,
  password: fields.newPassword.optional(),
  role: fields.role.optional(),
  mustChangePassword: z.boolean().optional(),
  ...switches,
});

export const userPatchBody = z.union([
  z
    .object({ all: z.literal(true), ...switches })
    .refine((body) => body.providerSettingsEnabled !== undefined || body.mcpSettingsEnabled !== undefined, {
      message: 'Give providerSettingsEnabled or mcpSettingsEnabled',
      path: ['all'],
    }),
  z.object({
    id: fields.id,
    name: fields.personName.optional(),
    email: fields.email.optional(),
    role: fields.role.optional(),
    enabled: z.boolean().optional(),
    password: fields.newPassword.optional(),
    mustChangePassword: z.boolean().optional(),
    ...switches,
  }),
  z
    .object({
      ids: z.array(fields.id).min(1).max(limits.usersAtOnceMax),
      enabled: z.boolean().optional(),
      ...switches,
    })
    .refine(
      ({ enabled, providerSettingsEnabled, mcpSettingsEnabled }) =>
        enabled !== undefined || providerSettingsEnabled !== undefined || mcpSettingsEnabled !== undefined,
      { message: 'Give enabled, providerSettingsEnabled or mcpSettingsEnabled', path: ['ids'] },
    ),
]);

const invitation = z.object({
  id: fields.id,
  email: z.string(),
  name: z.string().nullable(),
  role: fields.role,
  state: z.enum(['pending', 'accepted', 'expired', 'revoked']),
  createdAt: fields.timestamp,
  expiresAt: fields.timestamp,
});
export type Invitation = z.infer<typeof invitation>;

export const invitationBody = z.object({
  email: fields.email,
  name: fields.personName.optional(),
  role: fields.role.optional(),
  ...switches,
  expiresInHours: z.number().int().min(1).max(limits.invitationHoursMax).optional(),
});

const invitationToken = z.string().min(1).max(limits.invitationTokenMax);
export const redemptionBody = z.object({
  token: invitationToken,
  name: fields.personName,
  password: fields.newPassword,
});

const hexColor = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'A color like #4f46e5');
/** The server checks the bytes: PNG, JPEG, WebP, SVG or icon. */
const imageDataUrl = z
  .string()
  .max(limits.brandingImageMax)
  .regex(/^data:image\/(png|jpeg|webp|svg\+xml|x-icon|vnd\.microsoft\.icon)(;[^,]*)?,/i, {
    message: 'A data URL of PNG, JPEG, WebP, SVG or an icon',
  });

export const brandingPatch = z.object({
  productName: line(1, limits.productNameMax).optional(),
  tagline: line(0, limits.taglineMax).optional(),
  logoDataUrl: imageDataUrl.nullable().optional(),
  faviconDataUrl: imageDataUrl.nullable().optional(),
  primaryColor: hexColor.optional(),
  primaryForegroundColor: hexColor.optional(),
});

/** The people who may have access tokens. */
const tokenPolicy = z.enum(['off', 'administrators', 'everyone']);
export type TokenPolicy = z.infer<typeof tokenPolicy>;
/** The longest life of a token in days; null: any. */
const tokenMaxDays = z.number().int().min(1).max(limits.tokenDaysMax).nullable();

const adminConfig = z.object({
  branding,
  oidc: oidcConfiguration,
  /** First instructions in every prompt context; null means `defaultInstructions`. */
  instructions: fields.instructions,
  defaultInstructions: z.string(),
  /** How much a model may do in one turn. */
  turnBudget,
  tokens: tokenPolicy,
  tokenMaxDays,
  /** Audiences that share links may have. */
  sharing: sharingPolicy,
  /** People that accounts can find to add or share with. */
  peopleSearch,
});
export type AdminConfig = z.infer<typeof adminConfig>;

const auditEvent = z.object({
  id: fields.id,
  at: fields.timestamp,
  actorId: fields.id.nullable(),
  action: z.string(),
  targetType: z.string().nullable(),
  targetId: z.string().nullable(),
  address: z.string().nullable(),
  requestId: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
});
export type AuditEvent = z.infer<typeof auditEvent>;

const search = z.string().trim().max(limits.searchMax).optional();
const page = { limit: fields.pageLimit, cursor: fields.cursor };
const nextCursor = z.string().nullable();

export const adminEndpoints = {
  getAdminUsers: endpoint({
    method: 'GET',
    path: '/api/admin/users',
    access: 'admin',
    scope: 'admin:read',
    summary: 'Users who match, a page at a time; q searches names and addresses, or is the id of one',
    query: z.object({
      q: search,
      role: fields.role.optional(),
      enabled: fields.booleanFlag.optional(),
      /** When a session was last used: within the last 30 days, not within them, or never. */
      seen: z.enum(['recently', 'not-recently', 'never']).optional(),
      /** Only those without an enabled model of their own or shared with them. */
      model: z.literal('none').optional(),
      /** By default the newest first. */
      sort: z.enum(['created', 'name', 'email', 'seen']).optional(),
      order: z.enum(['asc', 'desc']).optional(),
      ...page,
    }),
    response: z.object({ users: z.array(managedUser), nextCursor, total: z.number().int().min(0) }),
  }),
  postAdminUser: endpoint({
    method: 'POST',
    path: '/api/admin/users',
    access: 'admin',
    scope: 'admin:write',
    closedToTokens: ['password', 'mustChangePassword', 'role'],
    summary: 'Creates a user; without a password the account can only sign in by OIDC',
    body: userBody,
    response: z.object({ user: managedUser }),
    status: 201,
    errors: ['email_taken'],
  }),
  patchAdminUser: endpoint({
    method: 'PATCH',
    path: '/api/admin/users',
    access: 'admin',
    scope: 'admin:write',
    closedToTokens: ['email', 'password', 'mustChangePassword', 'role'],
    summary: 'Changes one user, several, or a switch of all accounts that are not administrators',
    body: userPatchBody,
    response: z.union([z.object({ user: managedUser }), z.object({ ok: z.literal(true), updated: z.number().int() })]),
    errors: ['not_found', 'last_admin', 'email_taken'],
  }),
  getAdminConfig: endpoint({
    method: 'GET',
    path: '/api/admin/config',
    access: 'admin',
    scope: 'admin:read',
    summary: 'Branding, OIDC configuration and instructions, never a secret',
    response: adminConfig,
  }),
  postAdminConfig: endpoint({
    method: 'POST',
    path: '/api/admin/config',
    access: 'admin',
    summary: 'Changes branding, OIDC configuration and instructions; an omitted member keeps its value',
    body: z.object({
      branding: brandingPatch.optional(),
      oidc: oidcPatch.optional(),
      instructions: fields.instructions.optional(),
      turnBudget: turnBudget.partial().optional(),
      tokens: tokenPolicy.optional(),
      tokenMaxDays: tokenMaxDays.optional(),
      sharing: sharingPolicy.optional(),
      peopleSearch: peopleSearch.optional(),
    }),
    bodyBytes: limits.brandingBodyBytes,
    response: adminConfig,
  }),
  postOidcTest: endpoint({
    method: 'POST',
    path: '/api/admin/oidc-test',
    access: 'admin',
    summary: 'Tries discovery and client credentials against the real identity provider',
    body: z.object({ oidc: oidcPatch.optional() }).optional(),
    response: z.object({ ok: z.boolean(), checks: z.array(oidcCheck) }),
    errors: ['credentials_unreadable'],
  }),
  getInvitations: endpoint({
    method: 'GET',
    path: '/api/invitations',
    access: 'admin',
    scope: 'admin:read',
    publicWith: 'token',
    summary: 'All invitations, or the open ones; with ?token= the one that it opens, for anybody',
    query: z.object({ token: invitationToken.optional(), q: search, state: z.literal('open').optional(), ...page }),
    response: z.union([
      z.object({
        invitation: z.object({ email: z.string(), name: z.string().nullable(), expiresAt: fields.timestamp }),
      }),
      z.object({ invitations: z.array(invitation), nextCursor }),
    ]),
    errors: ['not_found', 'invitation_used', 'invitation_expired', 'rate_limited'],
  }),
  getInviter: endpoint({
    method: 'GET',
    path: '/api/invitations/inviter',
    access: 'public',
    summary: 'The display name of the person whose invitation the token opens; null if that account is gone',
    query: z.object({ token: invitationToken }),
    response: z.object({ name: z.string().nullable() }),
    errors: ['not_found', 'invitation_used', 'invitation_expired', 'rate_limited'],
  }),
  postInvitation: endpoint({
    method: 'POST',
    path: '/api/invitations',
    access: 'admin',
    summary: 'Creates an invitation; its token appears this once',
    body: invitationBody,
    response: z.object({ invitation, token: z.string(), url: z.string() }),
    status: 201,
    errors: ['email_taken'],
  }),
  putInvitation: endpoint({
    method: 'PUT',
    path: '/api/invitations',
    access: 'public',
    summary: 'Redeems an invitation, exactly once: creates the account and signs in',
    body: redemptionBody,
    response: z.object({ user: fields.user }),
    status: 201,
    errors: ['not_found', 'invitation_used', 'invitation_expired', 'email_taken', 'rate_limited'],
  }),
  deleteInvitation: endpoint({
    method: 'DELETE',
    path: '/api/invitations',
    access: 'admin',
    summary: 'Revokes an invitation',
    query: z.object({ id: fields.id }),
    response: z.object({ ok: z.literal(true), invitation }),
    errors: ['not_found', 'invitation_used'],
  }),
  getAudit: endpoint({
    method: 'GET',
    path: '/api/admin/audit',
    access: 'admin',
    scope: 'admin:read',
    summary: 'Lists audit events with actor, action, target, time and address; newest first',
    query: z.object(page),
    response: z.object({ events: z.array(auditEvent), nextCursor }),
  }),
} as const;
