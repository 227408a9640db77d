import { replaceBuiltInFetch } from './built-in-fetch.ts';
import { createGuard, type GuardOptions } from './guard.ts';
import { createGuardedFetch, type FetchLimits } from './guarded-fetch.ts';
import { createHttpClient, type EgressInit, type EgressResponse } from './http-client.ts';

/** The only way to the outside (control-plane-api.md "Outbound request guard"). */
export type Egress = {
  /** The client itself, for provider streams. */
  request(url: string, init: EgressInit): Promise<EgressResponse>;
  /** A WHATWG fetch for libraries, under the same rules. */
  fetch: typeof globalThis.fetch;
  /** The same with its own time and size limits. */
  fetchWithin(limits: FetchLimits): typeof globalThis.fetch;
  /** Makes `fetch` the built-in one too, in place of any proxy from the environment. */
  installGlobally(): void;
  /** Closes all connections, even those in use. */
  close(): void;
};

export function createEgress(options: GuardOptions): Egress {
  const guard = createGuard(options);
  const client = createHttpClient(guard);
  const fetch = createGuardedFetch(guard, client);
  return {
    request: client.request,
    fetch,
    fetchWithin: (limits) => createGuardedFetch(guard, client, limits),
    installGlobally: () => replaceBuiltInFetch(fetch),
    close: () => client.close(),
  };
}
