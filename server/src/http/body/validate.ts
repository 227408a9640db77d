import type { IncomingHttpHeaders } from 'node:http';
import { ApiError, type FieldError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { z } from 'zod';
import { isStorable } from '../../platform/json/json-fault.ts';
import { findTooManyMembers } from './member-count.ts';

const maxFieldErrors = 50;

/** From this bound on, a text that exceeds it is too large rather than malformed: no smaller piece would hold it. */
const payloadCharacters = limits.messageTextMax;

/**
 * Parses with the endpoint table's schema, or throws `invalid_request` naming each field (contract.md section 1). A
 * message text that is too long throws `payload_too_large`.
 */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const tooMany = findTooManyMembers(schema, value);
  if (tooMany !== undefined) throw refusal('invalid_request', [tooMany]);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = flatten(result.error.issues, [], value);
  const tooLong = issues.filter(({ isPayload }) => isPayload);
  const details = (tooLong.length > 0 ? tooLong : issues).slice(0, maxFieldErrors);
  throw refusal(
    tooLong.length > 0 ? 'payload_too_large' : 'invalid_request',
    details.map(({ path, message }) => ({ path, message })),
  );
}

function refusal(code: 'invalid_request' | 'payload_too_large', details: FieldError[]): ApiError {
  const first = details[0];
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  const what = code === 'invalid_request' ? 'The request is not valid' : 'The request is too large';
  return new ApiError(code, `${what}. ${where}${first?.message ?? ''}`.trim(), { details });
}

type Finding = FieldError & { isPayload: boolean };

function flatten(issues: readonly z.core.$ZodIssue[], prefix: readonly PropertyKey[], value: unknown): Finding[] {
  return issues.flatMap((issue) => {
    const path = [...prefix, ...issue.path];
    const given = memberAt(value, issue.path);
    const branch = issue.code === 'invalid_union' ? nearestBranch(issue.errors, given) : undefined;
    if (branch !== undefined) return flatten(branch, path, given);
    const isPayload = issue.code === 'too_big' && issue.origin === 'string' && issue.maximum >= payloadCharacters;
    const message = isPayload ? `At most ${issue.maximum} characters` : issue.message;
    return [{ path: path.map(shortName).join('.'), message, isPayload }];
  });
}

/** The caller chose the names of a record's members: an error shows only the beginning of a long one. */
function shortName(name: PropertyKey): string {
  const text = String(name);
  return text.length > 100 ? `${text.slice(0, 100).toWellFormed()}…` : text;
}

type Branch = readonly z.core.$ZodIssue[];

/**
 * Of a union's failed branches, the caller probably meant one of the kind that was given (a list, an object, a text),
 * then the one that lacks least of what was given, then the one with the fewest errors.
 */
function nearestBranch(branches: readonly Branch[], value: unknown): Branch | undefined {
  const missing = (branch: Branch) => branch.filter(({ path }) => memberAt(value, path) === undefined).length;
  const failed = branches.filter((branch) => branch.length > 0);
  const otherKind = (branch: Branch) => Number(branch.some(({ path }) => path.length === 0 && isObject(value)));
  return failed.sort((a, b) => otherKind(a) - otherKind(b) || missing(a) - missing(b) || a.length - b.length)[0];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function memberAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, name) => (isObject(inner) ? Reflect.get(inner, name) : undefined), value);
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

/** Request headers for their schema; repeated ones are joined, as in HTTP. */
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
    details: [{ path: name.slice(0, 100), message: 'Contains a character that cannot be stored' }],
  });
}
