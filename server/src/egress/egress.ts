import { guardBuiltInFetch } from './built-in-fetch.ts';
import { createGuard, type GuardOptions } from './guard.ts';
import { createGuardedFetch, type FetchLimits } from './guarded-fetch.ts';
import { createLeanRequest, type EgressInit, type EgressResponse } from './lean-request.ts';

/** The only way to the outside (control-plane-api.md "Outbound request guard"). */
export type Egress = {
  /** The lean path, for provider streams. */
  request(url: string, init: EgressInit): Promise<EgressResponse>;
  /** A WHATWG fetch for libraries, under the same rules. */
  fetch: typeof globalThis.fetch;
  /** The same with its own time and size limits. */
  fetchWithin(limits: FetchLimits): typeof globalThis.fetch;
  /** Puts the guard under the built-in fetch too, in place of any proxy from the environment. */
  installGlobally(): void;
  /** Closes all connections, even those in use. */
  close(): Promise<void>;
};

export function createEgress(options: GuardOptions): Egress {
  const guard = createGuard(options);
  const lean = createLeanRequest(guard);
  const builtIn = guardBuiltInFetch(guard);
  return {
    request: lean.request,
    fetch: createGuardedFetch(guard, lean),
    fetchWithin: (limits) => createGuardedFetch(guard, lean, limits),
    installGlobally: () => builtIn.install(),
    async close() {
      lean.close();
      await builtIn.close();
    },
  };
}
