/** One call on the lean path. Every header but accept, content-type and user-agent is a secret of the first origin. Times in ms. */
export type EgressInit = {
  method?: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'PATCH' | 'HEAD';
  headers?: Record<string, string>;
  body?: string;
  signal: AbortSignal;
  connectTimeoutMs?: number;
  /** From the request being sent to the response head, whatever trickles in between. */
  headersTimeoutMs?: number;
  /** Between two pieces of the body. */
  idleTimeoutMs?: number;
  /** From the call to the last byte of the body, redirects included. */
  totalTimeoutMs?: number;
  maxResponseBytes?: number;
  maxRedirects?: number;
};

/**
 * The body of a response, to be read once: by `for await`, which ends it on leaving the loop, or by `pump`, which costs
 * least. What is not read to its end must be given back with `destroy`.
 */
export type EgressBody = AsyncIterable<Uint8Array> & {
  /** Calls `onChunk` synchronously for each piece as it arrives; resolves at the end, rejects like the iterator would. */
  pump(onChunk: (chunk: Uint8Array) => void): Promise<void>;
  /** Reads all of it as UTF-8 text; more than `maxBytes` fails with `too_large`. */
  text(maxBytes: number): Promise<string>;
  /** Closes the connection unless the body has been read to its end. Safe to call at any time, any number of times. */
  destroy(): void;
};

/** `headers` has lower-case names; repeated ones are joined by ", ". */
export type EgressResponse = { status: number; headers: Record<string, string>; url: string; body: EgressBody };
