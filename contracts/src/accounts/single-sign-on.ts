import { z } from 'zod';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';
import { asciiDomain } from '../text/email.ts';
import { line } from '../text/line.ts';

/** Configuration of single sign-on, and the steps of its test (contract.md section 3). */

/** How the provider has people sign in: as it likes, with a choice of account, or with the password again. */
const oidcPrompt = z.enum(['none', 'select_account', 'login']);
/** How the client secret is sent to the token endpoint; `auto` tries the other way when one is refused. */
const oidcTokenAuth = z.enum(['auto', 'basic', 'post']);

/** OIDC as administrators see it: `hasClientSecret` instead of the secret. */
export const oidcConfiguration = z.object({
  enabled: z.boolean(),
  providerKey: z.string(),
  label: z.string(),
  issuer: z.string(),
  discoveryUrl: z.string(),
  clientId: z.string(),
  hasClientSecret: z.boolean(),
  /** Set when the stored client secret cannot be decrypted with the current key. */
  credentialsError: z.literal('credentials_unreadable').optional(),
  /** The origin that the client secret belongs to, if it differs from the provider's; the secret is then not sent. */
  credentialsOrigin: z.string().optional(),
  scopes: z.string(),
  autoProvision: z.boolean(),
  linkByEmail: z.boolean(),
  allowedDomains: z.array(z.string()),
  /** Addresses count as verified without `email_verified`, because the provider verifies each of them itself. */
  trustEmail: z.boolean(),
  prompt: oidcPrompt,
  /** Signing out here also ends the session at the provider. */
  endSession: z.boolean(),
  /** Name and address follow the provider at each sign-in. */
  syncProfile: z.boolean(),
  tokenAuth: oidcTokenAuth,
});
export type OidcConfiguration = z.infer<typeof oidcConfiguration>;

/**
 * An address of the identity provider; empty clears it. The outbound guard decides at each call whether it is allowed.
 */
const httpUrl = z
  .string()
  .trim()
  .max(limits.baseUrlMax)
  .refine((value) => value === '' || (fields.isServerAddress(value) && !/[\s\\#]/.test(value)), {
    message: 'An absolute http or https URL without user name, password or fragment',
  });

const domain = z
  .string()
  .trim()
  .overwrite((text) => (text.length > 253 ? text : (asciiDomain(text) ?? text)))
  .max(253)
  .regex(/^(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))+$/, 'A domain like example.org');

export const oidcPatch = z.object({
  enabled: z.boolean().optional(),
  providerKey: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{1,38}$/, '2 to 39 lower-case letters, digits and "-", not starting with "-"')
    .optional(),
  label: line(1, limits.oidcLabelMax).optional(),
  issuer: httpUrl
    .refine((value) => !value.includes('?') || isDiscoveryAddress(value), {
      message: 'An issuer has no query (OpenID Connect Core, section 2)',
    })
    .optional(),
  discoveryUrl: httpUrl.optional(),
  clientId: z
    .string()
    .trim()
    .max(limits.oidcClientIdMax)
    .regex(/^[\x20-\x7e]*$/, 'Printable ASCII characters')
    .optional(),
  clientSecret: z
    .string()
    .trim()
    .min(1)
    .max(limits.oidcClientSecretMax)
    .regex(/^[\x20-\x7e]+$/, 'Printable ASCII characters')
    .nullable()
    .optional(),
  scopes: z
    .string()
    .trim()
    .min(1)
    .max(limits.oidcScopesMax)
    .regex(/^[\x21\x23-\x5b\x5d-\x7e]+( +[\x21\x23-\x5b\x5d-\x7e]+)*$/, 'Scopes with spaces between them')
    .refine((value) => value.split(/ +/).includes('openid'), { message: 'One of them must be openid' })
    .optional(),
  autoProvision: z.boolean().optional(),
  linkByEmail: z.boolean().optional(),
  allowedDomains: z.array(domain).max(limits.allowedDomainsMax).optional(),
  trustEmail: z.boolean().optional(),
  prompt: oidcPrompt.optional(),
  endSession: z.boolean().optional(),
  syncProfile: z.boolean().optional(),
  tokenAuth: oidcTokenAuth.optional(),
});

/** The address of a discovery document, which people paste in place of the issuer. */
export function isDiscoveryAddress(address: string): boolean {
  return /\/\.well-known\/openid-configuration\/?(\?|$)/.test(address);
}

export const oidcCheck = z.object({
  name: z.enum(['discovery', 'issuer', 'endpoints', 'client']),
  ok: z.boolean(),
  message: z.string(),
});
export type OidcCheck = z.infer<typeof oidcCheck>;
