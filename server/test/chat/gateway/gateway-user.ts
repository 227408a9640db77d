import { createToken, tokenCaller } from '../../accounts/tokens/token-calls.ts';
import type { Json, SignedIn, TestApp } from '../../app.ts';

/** A person, and a program with an access token of theirs. */
export type GatewayUser = {
  id: string;
  signedIn: SignedIn;
  token: string;
  tokenId: string;
  send(path: string, body?: Json, init?: { method?: string; headers?: Json; signal?: AbortSignal }): Promise<Response>;
};

export async function gatewayUser(app: TestApp, scopes: readonly string[] = ['models']): Promise<GatewayUser> {
  const signedIn = await app.signIn();
  const { id: tokenId, secret: token } = await createToken(signedIn, scopes);
  const program = tokenCaller(app, token);
  return {
    id: signedIn.id,
    signedIn,
    token,
    tokenId,
    send: (path, body, { method, headers = {}, signal } = {}) =>
      program.fetch(path, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}
