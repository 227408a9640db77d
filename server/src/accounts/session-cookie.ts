import { createHmac, timingSafeEqual } from 'node:crypto';
import { limits } from '@homeport/contracts/limits';
import type { Config } from '../config.ts';

/** What signs the session cookie, and whether BASE_URL is https. */
export type CookieRule = { authSecret: string; secureCookie: boolean };

/** The rule that the settings give (contract section 3). */
export function cookieRule(config: Pick<Config, 'baseUrl' | 'authSecret'>): CookieRule {
  return { authSecret: config.authSecret, secureCookie: config.baseUrl?.startsWith('https://') === true };
}

/** Prefix of every cookie of this application. */
export const cookiePrefix = 'homeport';
/** Life of a session and of its cookie (contract section 3). */
export const sessionSeconds = limits.sessionDays * 86_400;
/** A session is renewed when this much of its life is gone. */
export const renewAfterSeconds = 86_400;

// A token has 32 characters and its signature 44; anything much longer is not ours and is not worth a hash.
const longestValue = 512;

/** `homeport.session_token`, with `__Secure-` before it when BASE_URL is https. */
export function sessionCookieName(rule: Pick<CookieRule, 'secureCookie'>): string {
  return cookieName('session_token', rule.secureCookie);
}

/** The `Set-Cookie` value that carries a session, in exactly Better Auth's form. */
export function sessionCookie(rule: CookieRule, token: string): string {
  const secure = rule.secureCookie ? '; Secure' : '';
  return `${cookiePair(rule, token)}; Max-Age=${sessionSeconds}; Path=/; HttpOnly${secure}; SameSite=Lax`;
}

/** The session's part of a `Cookie` header. */
export function cookiePair(rule: CookieRule, token: string): string {
  return `${sessionCookieName(rule)}=${encodeURIComponent(`${token}.${sign(token, rule.authSecret)}`)}`;
}

/** The session token of a `Cookie` header, when its signature is ours. `remembered` is false for a session that is not to be renewed. */
export function readSessionCookie(
  rule: CookieRule,
  header: string | null | undefined,
): { token: string; remembered: boolean } | undefined {
  if (header === null || header === undefined) return undefined;
  const name = sessionCookieName(rule);
  if (!header.includes(name)) return undefined;
  const forgetful = cookieName('dont_remember', rule.secureCookie);
  let token: string | undefined;
  let remembered = true;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    const key = pair.slice(0, equals).trim();
    if (key === forgetful) remembered = false;
    // A cookie of a wider path or domain may come along under the same name: the first one that we signed counts.
    if (key === name) token ??= verified(pair.slice(equals + 1).trim(), rule.authSecret);
  }
  return token === undefined ? undefined : { token, remembered };
}

function cookieName(name: string, secure: boolean): string {
  return `${secure ? '__Secure-' : ''}${cookiePrefix}.${name}`;
}

function verified(encoded: string, secret: string): string | undefined {
  if (encoded.length > longestValue) return undefined;
  const value = decoded(encoded);
  const dot = value.lastIndexOf('.');
  if (dot < 1) return undefined;
  const token = value.slice(0, dot);
  const given = Buffer.from(value.slice(dot + 1));
  const expected = Buffer.from(sign(token, secret));
  return given.length === expected.length && timingSafeEqual(given, expected) ? token : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

function sign(token: string, secret: string): string {
  return createHmac('sha256', secret).update(token).digest('base64');
}
