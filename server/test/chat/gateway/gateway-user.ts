import type { Json, SignedIn, TestApp } from '../../app.ts';

/** A person who calls the gateway with a token. */
export type GatewayUser = {
  id: string;
  signedIn: SignedIn;
  send(path: string, body?: Json, init?: { method?: string; headers?: Json; signal?: AbortSignal }): Promise<Response>;
};

export async function gatewayUser(app: TestApp): Promise<GatewayUser> {
  const signedIn = await app.signIn();
  return {
    id: signedIn.id,
    signedIn,
    send: (path, body, { method, headers = {}, signal } = {}) =>
      signedIn.fetch(path, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}
