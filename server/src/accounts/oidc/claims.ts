import type { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { normalEmail } from '@homeport/contracts/text/email';
import type { IDToken } from 'openid-client';

/** Facts about a person, from an ID token whose signature and audience have been verified, and from userinfo. */
export type Claims = {
  /** The issuer that the token names: the provider's, or with `{tenantid}` that of the person's organization. */
  issuer: string;
  subject: string;
  /** Usable addresses in their normal form, the preferred one first. */
  emails: readonly string[];
  emailVerified: boolean;
  name: string | undefined;
  /** Userinfo was needed and could not be read. */
  userinfoFault?: ApiError;
};

type Payload = Readonly<Record<string, unknown>>;

/** At most this many addresses of one person are read. */
const emailsMax = 10;

/** The claims of userinfo fill in those that the token lacks; the token's own ones win. */
export function readClaims(token: IDToken, userinfo: Payload = {}): Claims {
  const { emails, verified } = addressOf(token, userinfo);
  const name = nameOf(token) ?? nameOf(userinfo) ?? handleOf(token) ?? handleOf(userinfo);
  return { issuer: token.iss, subject: token.sub, emails, emailVerified: verified, name };
}

/** Whether userinfo could say more than the token does. */
export function lacksClaims(token: Payload): boolean {
  return emailsOf(token).length === 0 || token.email_verified === undefined || nameOf(token) === undefined;
}

/** An address counts as verified only by a statement about this very address. */
function addressOf(token: Payload, userinfo: Payload): { emails: string[]; verified: boolean } {
  const [own, others] = [emailsOf(token), emailsOf(userinfo)];
  if (own.length > 0 && token.email_verified !== undefined) return { emails: own, verified: isTrue(token) };
  const isSame = own.length === 0 || others.length === 0 || own[0] === others[0];
  const verified = isTrue(token.email_verified === undefined ? userinfo : token);
  if (isSame) return { emails: own.length > 0 ? own : others, verified };
  // Two addresses: userinfo's own one is taken only with userinfo's own statement.
  return isTrue(userinfo) ? { emails: others, verified: true } : { emails: own, verified: false };
}

/** The boolean, or its text, which some providers send; `"false"` is text as well. */
function isTrue({ email_verified: verified }: Payload): boolean {
  return verified === true || verified === 'true';
}

/** `email` as text or, from directories with several values, as a list; Azure AD B2C has a list named `emails`. */
function emailsOf({ email, emails }: Payload): string[] {
  for (const claim of [email, emails]) {
    const values = (Array.isArray(claim) ? claim : [claim]).slice(0, emailsMax);
    const usable = values.map((value) =>
      typeof value === 'string' && value.length <= limits.emailMax ? normalEmail(value) : undefined,
    );
    const found = usable.filter((value): value is string => value !== undefined && value.length <= limits.emailMax);
    if (found.length > 0) return found;
  }
  return [];
}

function nameOf({ name, given_name: given, family_name: family }: Payload): string | undefined {
  const parts = [given, family].filter(isText);
  return isText(name) ? name : parts.length > 0 ? parts.join(' ') : undefined;
}

/** A user name, unless it is written like an address. */
function handleOf({ nickname, preferred_username: handle }: Payload): string | undefined {
  return [nickname, handle].filter(isText).find((text) => !text.includes('@'));
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
