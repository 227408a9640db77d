import type { EgressInit, EgressResponse } from './lean-request.ts';

export type EgressOptions = {
  allowPrivateEgress: boolean;
  allowInsecureHttp: boolean;
  /** Resolves a name to all its addresses; tests bring their own. */
  lookup?: (hostname: string) => Promise<string[]>;
  /** Further certificate authorities in PEM, beside those of Node. */
  tlsCa?: string[];
};

/** The only door to the outside (specification "Outbound request guard"). */
export type Egress = {
  /** The lean path for provider streams. */
  request(url: string, init: EgressInit): Promise<EgressResponse>;
  /** A WHATWG fetch for libraries, under the same rules. */
  fetch: typeof globalThis.fetch;
  /** Puts the guard under the built-in fetch as well, in place of any proxy from the environment. */
  installGlobally(): void;
  close(): Promise<void>;
};

export declare function createEgress(options: EgressOptions): Egress;
