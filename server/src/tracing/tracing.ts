import { ApiError } from '@homeport/contracts/errors';

/**
 * Spans for a collector of OpenTelemetry traces: the order and duration of operations. Never a text, key, name or
 * address of a person: only fixed words, counts, ids of responses, and names of models and tools.
 */

export type SpanFacts = Readonly<Record<string, string | number | boolean | undefined>>;
type SpanKind = 'server' | 'client' | 'internal';
export type SpanStart = {
  kind: SpanKind;
  name: string;
  facts?: SpanFacts;
  /** A `traceparent` header of a caller whom one may believe. */
  parent?: string;
};

export type Tracing = {
  /** Runs `work` in a span below the current one. A thrown error marks the span as failed, by its kind only. */
  span<T>(start: SpanStart, work: () => Promise<T>): Promise<T>;
  /** The same for one statement, if it belongs to anything; background work is left out. */
  statement<T>(sql: string, work: () => Promise<T>): Promise<T>;
  /** Adds to the part that is running. */
  tell(facts: SpanFacts): void;
  /** Marks the part that is running as failed; `kind` is a fixed word. */
  fail(kind: string): void;
  /** The `traceparent` header of the part that is running. */
  header(): string | undefined;
  /** Sends what is left, for a moment at most. */
  close(): Promise<void>;
};

const ignore = (): undefined => undefined;

export const noTracing: Tracing = {
  span: (_start, work) => work(),
  statement: (_sql, work) => work(),
  tell: ignore,
  fail: ignore,
  header: ignore,
  close: async () => undefined,
};

/** A fixed word for a failure, never its message. */
export function failureKind(error: unknown): string {
  if (error instanceof ApiError) return error.code;
  if (!(error instanceof Error)) return 'Error';
  const name = error.name === 'Error' ? error.constructor.name : error.name;
  return /^[A-Z]\w{0,60}$/.test(name) ? name : 'Error';
}

/** Verb and table of a statement: `SELECT messages`. */
export function statementName(sql: string): { verb: string; name: string } {
  const verb = /^\s*(\w{1,20})/.exec(sql)?.[1]?.toUpperCase() ?? 'OTHER';
  const table = /\b(?:from|into|update)\s+(?:only\s+)?"?([a-z_]{1,63})\b/i.exec(sql)?.[1];
  return { verb, name: table === undefined ? verb : `${verb} ${table}` };
}
