import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { CORE_SCHEMA, load, YAMLException } from 'js-yaml';
import { findJsonFault } from '../../platform/json/json-fault.ts';
import { findJsonExcess } from '../../platform/json/json-scan.ts';

/**
 * Turns a manifest's bytes into a JSON value, bounded in depth and in size, however often a YAML alias repeats
 * something.
 */

export type ManifestForm = 'json' | 'yaml';

const maxDepth = 64;
/** Millions of levels or members take a parser minutes and gigabytes. */
const jsonBounds = { depth: maxDepth, values: 4_000_000, names: 3_000_000 };
const maxAliases = 10_000;

/** Throws `invalid_request` with the location of the error in the text. */
export function parseManifestText(bytes: Uint8Array, form: ManifestForm): unknown {
  const text = decode(bytes);
  if (text.trim() === '') throw invalid('', 'The manifest is empty');
  const value = form === 'json' ? parseJson(text, bytes) : parseYaml(text);
  const fault = findJsonFault(value, limits.manifestBytes);
  if (fault !== undefined) throw invalid(fault.path, fault.message);
  return value;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('', 'Not UTF-8');
  }
}

function parseJson(text: string, bytes: Uint8Array): unknown {
  const excess = findJsonExcess(bytes, jsonBounds);
  if (excess !== undefined) throw invalid('', excess.message);
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('', 'Not valid JSON');
  }
}

/** YAML 1.2 core: only JSON's values, so that times and `no` stay text. One document. */
function parseYaml(text: string): unknown {
  try {
    return load(text, { schema: CORE_SCHEMA, maxDepth, maxAliases });
  } catch (error) {
    if (error instanceof YAMLException) throw invalid('', `Not valid YAML: ${where(error)}`);
    throw error;
  }
}

/** Reason and position, without the excerpt that the exception quotes: it may contain a secret. */
function where({ reason, mark }: YAMLException): string {
  const place = mark === undefined || mark === null ? '' : `, line ${mark.line + 1}, column ${mark.column + 1}`;
  return `${reason.slice(0, 200)}${place}`;
}

function invalid(path: string, message: string): ApiError {
  const short = path.slice(0, 200);
  return new ApiError('invalid_request', `The manifest is not valid. ${short === '' ? '' : `${short}: `}${message}`, {
    details: [{ path: short, message }],
  });
}
