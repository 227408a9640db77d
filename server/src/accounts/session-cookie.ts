import { createHmac, timingSafeEqual } from 'node:crypto';
import { limits } from '@homeport/contracts/limits';
import type { Config } from '../config/config.ts';

/** The key that signs the session cookie, and whether BASE_URL is https. */
export type CookieRule = { authSecret: string; secureCookie: boolean };

/** The rule that follows from the settings (contract.md section 3). */
export function cookieRule(config: Pick<Config, 'baseUrl' | 'authSecret'>): CookieRule {
  return { authSecret: config.authSecret, secureCookie: config.baseUrl?.startsWith('https://') === true };
}

const cookiePrefix = 'homeport';
/** Lifetime of a session and of its cookie (contract.md section 3). */
export const sessionSeconds = limits.sessionDays * 86_400;
/** A session is renewed after this much of its lifetime. */
export const renewAfterSeconds = 86_400;

// A token has 32 characters and its signature 44; anything much longer is not ours and not worth hashing.
const longestValue = 512;

/** Our cookies: `homeport.session_token` and so on, prefixed with `__Secure-` if BASE_URL is https. */
export type CookieName = 'session_token' | 'dont_remember' | 'state' | 'choose_account';

/** The `Set-Cookie` value with a session. */
export function sessionCookie(rule: CookieRule, token: string): string {
  return setCookie(rule, 'session_token', signed(rule, token), sessionSeconds);
}

/** The same for a session that the browser may have to forget when it closes; a second cookie then says so. */
export function sessionCookies(rule: CookieRule, token: string, remembered: boolean): string[] {
  if (remembered) return [sessionCookie(rule, token)];
  const forgetful = setCookie(rule, 'dont_remember', signed(rule, 'true'), undefined);
  return [setCookie(rule, 'session_token', signed(rule, token), undefined), forgetful];
}

/** The `Set-Cookie` value that deletes one of our cookies. */
export function clearedCookie(rule: CookieRule, name: CookieName): string {
  return setCookie(rule, name, '', 0);
}

/** Sign-ins of one browser that can be in progress at once, one in each tab. */
const statesMax = 5;
const stateSeparator = '~';

/** The `Set-Cookie` value that ties single sign-ons, the newest ones, to the browser where they began. */
export function stateCookie(rule: CookieRule, states: readonly string[], seconds: number): string {
  if (states.length === 0) return clearedCookie(rule, 'state');
  return setCookie(rule, 'state', signed(rule, states.slice(-statesMax).join(stateSeparator)), seconds);
}

/** The states of single sign-ons that began in this browser, if the signature is ours. */
export function readStateCookie(rule: CookieRule, header: string | null): string[] {
  return readSigned(rule, header ?? '', 'state').value?.split(stateSeparator) ?? [];
}

const chooseAccountSeconds = 86_400;

/** The `Set-Cookie` value with which the next single sign-on asks for a choice of account. */
export function chooseAccountCookie(rule: CookieRule): string {
  return setCookie(rule, 'choose_account', signed(rule, 'true'), chooseAccountSeconds);
}

/** Whether the next single sign-on of this browser asks for a choice of account. */
export function readChooseAccount(rule: CookieRule, header: string | null): boolean {
  return readSigned(rule, header ?? '', 'choose_account').value !== undefined;
}

/**
 * The session token in a `Cookie` header, if its signature is ours. `remembered` is false for a session that must not
 * be renewed.
 */
export function readSessionCookie(rule: CookieRule, header: string | null | undefined): SessionCookie | undefined {
  if (header === null || header === undefined) return undefined;
  const { value: token, others } = readSigned(rule, header, 'session_token');
  if (token === undefined) return undefined;
  return { token, remembered: !others.includes(cookieName('dont_remember', rule.secureCookie)) };
}

type SessionCookie = { token: string; remembered: boolean };

/** Number of verified cookie headers in the cache, and the maximum length of a cached one. */
const knownMax = 2_000;
const knownLength = 1_024;

/**
 * `readSessionCookie` with a cache of verified headers, so that a signature is computed once instead of per request.
 * The caller checks whether the session is still valid.
 */
export function sessionCookieReader(rule: CookieRule): (header: string | undefined) => SessionCookie | undefined {
  const known = new Map<string, SessionCookie>();
  return (header) => {
    if (header === undefined) return undefined;
    const before = known.get(header);
    if (before !== undefined) return before;
    const cookie = readSessionCookie(rule, header);
    if (cookie === undefined || header.length > knownLength) return cookie;
    if (known.size >= knownMax) known.clear();
    known.set(header, cookie);
    return cookie;
  };
}

/**
 * The first cookie with this name that we signed (the browser can also send one for a wider path or domain), and the
 * names of all cookies.
 */
function readSigned(
  rule: CookieRule,
  header: string,
  name: CookieName,
): { value: string | undefined; others: string[] } {
  const full = cookieName(name, rule.secureCookie);
  const others: string[] = [];
  let value: string | undefined;
  if (!header.includes(full)) return { value, others };
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    const key = pair.slice(0, equals).trim();
    others.push(key);
    if (key === full) value ??= verified(pair.slice(equals + 1).trim(), rule.authSecret);
  }
  return { value, others };
}

function setCookie(rule: CookieRule, name: CookieName, value: string, seconds: number | undefined): string {
  const maxAge = seconds === undefined ? '' : `; Max-Age=${seconds}`;
  const secure = rule.secureCookie ? '; Secure' : '';
  return `${cookieName(name, rule.secureCookie)}=${value}${maxAge}; Path=/; HttpOnly${secure}; SameSite=Lax`;
}

function signed(rule: CookieRule, text: string): string {
  return encodeURIComponent(`${text}.${sign(text, rule.authSecret)}`);
}

function cookieName(name: CookieName, secure: boolean): string {
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
