import { createHash, randomBytes } from 'node:crypto';
import { type Answer, createCaller, type Json, type TestApp } from './app.ts';

type UploadBody = string | Buffer<ArrayBuffer> | ReadableStream<Uint8Array>;

/** What speaks for a user from inside of their workspace. */
export type Inside = {
  token: string;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Its answer is checked against the endpoint table; `scope` is `chat:<id>` or `project:<id>`. */
  call(
    route: string,
    scope: string | undefined,
    init?: { query?: Record<string, string>; body?: unknown },
  ): Promise<Answer>;
  /** `PUT /api/internal/artifacts` */
  put(
    scope: string,
    query: Record<string, string>,
    body: UploadBody,
    headers?: Record<string, string>,
  ): Promise<Answer>;
};

/** A running workspace's row with a token of its own: what a start leaves, without what it starts. */
export async function enterWorkspace(app: TestApp, userId: string): Promise<Inside> {
  const token = `wst_${randomBytes(32).toString('base64url')}`;
  const hash = createHash('sha256').update(token).digest('hex');
  await app.database.database.pool.query(
    `insert into workspaces (user_id, phase, generation, runtime, key_id, token_hash)
     values ($1, 'running', 1, 'docker', 'test', $2)
     on conflict (user_id) do update set generation = workspaces.generation + 1, token_hash = excluded.token_hash`,
    [userId, hash],
  );
  return createInside(app.url, token);
}

export function createInside(url: string, token: string): Inside {
  const authorization = `Bearer ${token}`;
  const { call, fetch: send } = createCaller(url, undefined);
  const fetchInside = (path: string, init: RequestInit = {}) =>
    send(path, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), authorization } });
  const scoped = (scope: string | undefined): Record<string, string> =>
    scope === undefined ? { authorization } : { authorization, 'x-artifact-scope': scope };
  return {
    token,
    fetch: fetchInside,
    call: (route, scope, { query, body } = {}) =>
      call(route, body, { headers: scoped(scope), ...(query === undefined ? {} : { query }) }),
    async put(scope, query, body, headers = {}) {
      const path = `/api/internal/artifacts?${new URLSearchParams(query)}`;
      const response = await fetchInside(path, {
        method: 'PUT',
        body,
        headers: { 'x-artifact-scope': scope, ...headers },
        ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
      } as RequestInit);
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: parse(text) };
    },
  };
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
