import { readFile } from 'node:fs/promises';
import { type Answer, createCaller, type Json, type SignedIn, type TestApp } from '../app.ts';
import type { ProcessRuntime } from '../fakes/process-runtime.ts';

type UploadBody = string | Buffer<ArrayBuffer> | ReadableStream<Uint8Array>;

/** A client inside of a user's workspace. */
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

/** Starts the workspace of a user, or finds it running; `tokenFile` is the file that its commands read. */
export async function enterWorkspace(
  app: TestApp,
  runtime: ProcessRuntime,
  user: SignedIn,
): Promise<Inside & { tokenFile: string }> {
  const { status, text } = await user.call('POST /api/workspace/status');
  if (status !== 200) throw new Error(text);
  const tokenFile = await runtime.tokenFileOf(user.id);
  return { ...createInside(app.url, (await readFile(tokenFile, 'utf8')).trim()), tokenFile };
}

function createInside(url: string, token: string): Inside {
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
