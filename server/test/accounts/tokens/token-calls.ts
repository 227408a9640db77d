import assert from 'node:assert/strict';
import { type Answer, createCaller, type Json, type SignedIn, type TestApp } from '../../app.ts';

/** Calls with access tokens. */

/** Creates a token over the API. */
export async function createToken(
  user: SignedIn,
  scopes: readonly string[],
  more: Record<string, unknown> = {},
): Promise<{ id: string; secret: string; token: Json }> {
  const { status, body, text } = await user.call('POST /api/me/tokens', { name: 'Script', scopes, ...more });
  assert.equal(status, 201, text);
  return { id: body.token.id, secret: body.secret, token: body.token };
}

export type TokenCall = (route: string, body?: unknown, init?: { headers?: Record<string, string> }) => Promise<Answer>;

/** A program that shows this token, and nothing else. */
export function tokenCaller(app: Pick<TestApp, 'url'>, secret: string): { call: TokenCall; fetch: typeof fetch } {
  const anonymous = createCaller(app.url, undefined);
  const authorization = `Bearer ${secret}`;
  return {
    call: (route, body, init = {}) =>
      anonymous.call(route, body, { ...init, headers: { authorization, ...init.headers } }),
    fetch: (path, init = {}) =>
      anonymous.fetch(String(path), { ...init, headers: { authorization, ...Object(init.headers) } }),
  };
}

export function assertRefused(answer: Answer, status: number, code: string, message = answer.text): void {
  assert.equal(answer.body?.error?.code, code, message);
  assert.equal(answer.status, status, message);
}
