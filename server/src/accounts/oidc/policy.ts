import type { OidcRefusal } from '@homeport/contracts/accounts/accounts';
import * as fields from '@homeport/contracts/fields';
import { limits } from '@homeport/contracts/limits';
import { oneLine } from '@homeport/contracts/text/line';
import type { OidcSettings } from '../../settings/oidc.ts';
import type { Claims } from './claims.ts';

/** Sign-in policy for identity providers (contract.md section 3): a pure rule. */

export type KnownUser = { id: string; name: string; email: string; enabled: boolean };
/** Stored facts that a decision needs. */
export type Facts = {
  /** The owner of this identity. */
  owner: KnownUser | undefined;
  /** The account with the claimed address. */
  sameEmail: KnownUser | undefined;
  /** An open invitation for the claimed address. */
  isInvited: boolean;
  setupIsComplete: boolean;
};

export type Decision =
  | { action: 'sign-in' | 'link-account'; user: KnownUser }
  | { action: 'create-user' | 'accept-invitation'; email: string; name: string }
  | { action: 'refuse'; code: OidcRefusal };

/** The address that counts: the first one in an allowed domain, or else the first one. */
export function claimedEmail({ emails }: Claims, { allowedDomains }: OidcSettings): string | undefined {
  return emails.find((email) => isAllowed(email, allowedDomains)) ?? emails[0];
}

/**
 * An identity that belongs to an account signs it in, whatever its address has become. Others need an address that
 * counts as verified: as the settings allow, they are linked to the account with that address or get a new one. An
 * administrator who made an open invitation for the address has allowed it already.
 */
export function decide(claims: Claims, settings: OidcSettings, facts: Facts): Decision {
  const { owner, sameEmail } = facts;
  const admitted = admit(claims, settings);
  if (owner !== undefined) {
    if (settings.allowedDomains.length > 0 && 'code' in admitted) return refuse(admitted.code);
    return owner.enabled ? { action: 'sign-in', user: owner } : refuse('account_disabled');
  }
  if ('code' in admitted) return refuse(admitted.code);
  if (sameEmail !== undefined) {
    if (!settings.linkByEmail) return refuse('account_not_linked');
    return sameEmail.enabled ? { action: 'link-account', user: sameEmail } : refuse('account_disabled');
  }
  if (!facts.setupIsComplete) return refuse('setup_required');
  const { email } = admitted;
  const name = personName(claims.name, email);
  if (facts.isInvited) return { action: 'accept-invitation', email, name };
  return settings.autoProvision ? { action: 'create-user', email, name } : refuse('signup_disabled');
}

/** Whether a signed-in person may link this identity to their account, which needs no address. */
export function decideLink(
  claims: Claims,
  settings: OidcSettings,
  { owner, userId }: { owner: KnownUser | undefined; userId: string },
): 'link' | 'is-linked' | OidcRefusal {
  const admitted = admit(claims, settings);
  if (settings.allowedDomains.length > 0 && 'code' in admitted) return admitted.code;
  if (owner === undefined) return 'link';
  return owner.id === userId ? 'is-linked' : 'identity_taken';
}

/** How a profile follows the provider: the members that differ. An address must count as verified. */
export function profileChanges(
  claims: Claims,
  settings: OidcSettings,
  user: KnownUser,
): { name?: string; email?: string } {
  const admitted = admit(claims, settings);
  const name = claims.name === undefined ? user.name : personName(claims.name, user.email);
  return {
    ...(name === user.name ? {} : { name }),
    ...('code' in admitted || admitted.email === user.email ? {} : { email: admitted.email }),
  };
}

function admit(claims: Claims, settings: OidcSettings): { email: string } | { code: OidcRefusal } {
  const email = claimedEmail(claims, settings);
  if (email === undefined) return { code: 'email_missing' };
  if (!claims.emailVerified && !settings.trustEmail) return { code: 'email_not_verified' };
  return isAllowed(email, settings.allowedDomains) ? { email } : { code: 'domain_not_allowed' };
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
