import type { OidcRefusal } from '@homeport/contracts/accounts';
import * as fields from '@homeport/contracts/fields';
import { limits } from '@homeport/contracts/limits';
import { oneLine } from '@homeport/contracts/text/line';
import type { OidcSettings } from '../../settings/oidc.ts';
import type { Claims } from './protocol.ts';

/** Sign-in policy for identity providers (contract.md section 3): a pure rule. */

export type KnownUser = { id: string; email: string; enabled: boolean };
/** Stored facts: the owner of this identity, the account with its email address, and whether setup is complete. */
export type Facts = { owner: KnownUser | undefined; sameEmail: KnownUser | undefined; setupIsComplete: boolean };

export type Decision =
  | { action: 'sign-in' | 'link-account'; user: KnownUser }
  | { action: 'create-user'; email: string; name: string }
  | { action: 'refuse'; code: OidcRefusal };

/** The address in the claims as accounts write it; undefined if there is none that an account could have. */
export function claimedEmail(claims: Claims): string | undefined {
  const { email } = claims;
  // Before lower-casing: other scripts have letters that become ASCII then.
  if (typeof email !== 'string' || !/^[\x21-\x7e]+$/.test(email)) return undefined;
  return fields.email.safeParse(email).data;
}

/**
 * An identity that belongs to an account signs it in, whatever its address has become. Others need a verified address:
 * as the settings allow, they are linked to the account with that address or get a new one.
 */
export function decide(claims: Claims, settings: OidcSettings, { owner, sameEmail, setupIsComplete }: Facts): Decision {
  const admitted = admit(claims, settings.allowedDomains);
  if (owner !== undefined) {
    if (settings.allowedDomains.length > 0 && 'code' in admitted) return refuse(admitted.code);
    return owner.enabled ? { action: 'sign-in', user: owner } : refuse('account_disabled');
  }
  if ('code' in admitted) return refuse(admitted.code);
  if (sameEmail !== undefined) {
    if (!settings.linkByEmail) return refuse('account_not_linked');
    return sameEmail.enabled ? { action: 'link-account', user: sameEmail } : refuse('account_disabled');
  }
  if (!setupIsComplete) return refuse('setup_required');
  if (!settings.autoProvision) return refuse('signup_disabled');
  return { action: 'create-user', email: admitted.email, name: personName(claims.name, admitted.email) };
}

function admit(claims: Claims, domains: readonly string[]): { email: string } | { code: OidcRefusal } {
  const email = claimedEmail(claims);
  if (email === undefined) return { code: 'email_missing' };
  // The boolean only: some providers send "false" as text.
  if (claims.emailVerified !== true) return { code: 'email_not_verified' };
  return isAllowed(email, domains) ? { email } : { code: 'domain_not_allowed' };
}

function refuse(code: OidcRefusal): Decision {
  return { action: 'refuse', code };
}

/** The whole domain, never just its end. */
function isAllowed(email: string, domains: readonly string[]): boolean {
  return domains.length === 0 || domains.includes(email.slice(email.lastIndexOf('@') + 1));
}

function personName(claimed: string | undefined, email: string): string {
  const candidates = [
    oneLine((claimed ?? '').toWellFormed()).slice(0, limits.nameMax),
    email.slice(0, email.lastIndexOf('@')),
    email,
  ];
  const name = candidates.map((text) => fields.personName.safeParse(text.toWellFormed()).data).find(Boolean);
  return name ?? email.slice(0, limits.nameMax);
}
