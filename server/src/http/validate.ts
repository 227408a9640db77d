import type { IncomingHttpHeaders } from 'node:http';
import { ApiError, type FieldError } from '@homeport/contracts/errors';
import type { z } from 'zod';
import { isStorable } from '../json-fault.ts';

const maxFieldErrors = 50;

/** Parses with the schema of the endpoint table, or throws `invalid_request` that names each field (contract section 1). */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const details = flatten(result.error.issues, [], value).slice(0, maxFieldErrors);
  const first = details[0];
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  throw new ApiError('invalid_request', `The request is not valid. ${where}${first?.message ?? ''}`.trim(), {
    details,
  });
}

function flatten(issues: readonly z.core.$ZodIssue[], prefix: readonly PropertyKey[], value: unknown): FieldError[] {
  return issues.flatMap((issue) => {
    const path = [...prefix, ...issue.path];
    const given = memberAt(value, issue.path);
    const branch = issue.code === 'invalid_union' ? nearestBranch(issue.errors, given) : undefined;
    if (branch !== undefined) return flatten(branch, path, given);
    return [{ path: path.map(String).join('.'), message: issue.message }];
  });
}

type Branch = readonly z.core.$ZodIssue[];

/** Of a union's failed branches the caller meant the one that misses least of what was given, then the one with least wrong. */
function nearestBranch(branches: readonly Branch[], value: unknown): Branch | undefined {
  const missing = (branch: Branch) => branch.filter(({ path }) => memberAt(value, path) === undefined).length;
  const failed = branches.filter((branch) => branch.length > 0);
  return failed.sort((a, b) => missing(a) - missing(b) || a.length - b.length)[0];
}

function memberAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  );
}

/** The query as an object for its schema; of a repeated name the first counts. */
export function queryObject(parameters: URLSearchParams): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of parameters) {
    assertStorable(name, value);
    query[name] ??= value;
  }
  return query;
}

/** Request headers for their schema; repeated ones are joined, as HTTP says. */
export function headerObject(headers: IncomingHttpHeaders): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Path parameters, decoded, for their schema. */
export function pathObject(parameters: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(parameters)) assertStorable(name, value);
  return parameters;
}

function assertStorable(name: string, value: string): void {
  if (isStorable(value)) return;
  throw new ApiError('invalid_request', 'The request is not valid', {
    details: [{ path: name.slice(0, 100), message: 'Holds a character that cannot be stored' }],
  });
}
