import type { IncomingMessage } from 'node:http';
import { ApiError } from '@homeport/contracts/errors';

/** Access tokens in the headers of a request. */

type Headers = Pick<IncomingMessage, 'headers' | 'headersDistinct'>;

/**
 * The access token that a request shows, if it shows one: with `Authorization: Bearer`, or under /v1/messages also with
 * `x-api-key`, as Anthropic's clients do. Both may name the same token; two different ones are refused. Throws
 * `invalid_api_key`.
 */
export function shownToken({ headers, headersDistinct }: Headers, path: string): string | undefined {
  const key = isMessagesPath(path) ? headers['x-api-key'] : undefined;
  if (headers.authorization === undefined && key === undefined) return undefined;
  const values = [...(headersDistinct.authorization ?? []), ...(key === undefined ? [] : [`Bearer ${key}`])];
  const shown = new Set(values.map(bearerOf));
  const [token] = shown;
  if (shown.size > 1) throw invalidToken('Send one access token');
  return token;
}

/** Everything after the scheme: a token with a space in it is a wrong token, not none. */
function bearerOf(value: string): string | undefined {
  if (!/^Bearer /i.test(value)) return undefined;
  const token = value.slice('Bearer '.length).trim();
  return token === '' ? undefined : token;
}

function isMessagesPath(path: string): boolean {
  return path === '/v1/messages' || path.startsWith('/v1/messages/');
}

/** Whether a text was meant as one of our access tokens, whole or not. */
export function isAccessToken(token: string): boolean {
  return token.startsWith('hp_');
}

export function invalidToken(message = 'The access token is not valid, or has ended'): ApiError {
  return new ApiError('invalid_api_key', message);
}

/**
 * Whether a request shows an access token, valid or not. Its cookies then do not count anywhere: they are removed, and
 * its answer sets none.
 */
export function isTokenRequest(incoming: Headers, path: string): boolean {
  const { authorization = '' } = incoming.headers;
  const isToken = /^Bearer +hp_/i.test(authorization) || (isMessagesPath(path) && 'x-api-key' in incoming.headers);
  if (isToken) delete incoming.headers.cookie;
  return isToken;
}
