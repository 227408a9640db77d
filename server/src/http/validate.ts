import type { IncomingHttpHeaders } from 'node:http';
import { ApiError, type FieldError } from '@homeport/contracts/errors';
import type { z } from 'zod';
import { isStorable } from '../json-fault.ts';

const maxFieldErrors = 50;

/** Parses with the schema of the endpoint table, or throws `invalid_request` that names each field (contract section 1). */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const details = flatten(result.error.issues, []).slice(0, maxFieldErrors);
  const first = details[0];
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  throw new ApiError('invalid_request', `The request is not valid. ${where}${first?.message ?? ''}`.trim(), {
    details,
  });
}

function flatten(issues: readonly z.core.$ZodIssue[], prefix: readonly PropertyKey[]): FieldError[] {
  return issues.flatMap((issue) => {
    const path = [...prefix, ...issue.path];
    const branch = issue.code === 'invalid_union' ? nearestBranch(issue.errors) : undefined;
    if (branch !== undefined) return flatten(branch, path);
    return [{ path: path.map(String).join('.'), message: issue.message }];
  });
}

/** Of a union's failed branches the one that went deepest is what the caller meant. */
function nearestBranch(branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  const ranked = branches.filter((branch) => branch.length > 0).sort((a, b) => a.length - b.length);
  return ranked[0];
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
