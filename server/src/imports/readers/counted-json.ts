import { findJsonExcess, type JsonBounds } from '../../platform/json/json-scan.ts';

/** JSON of an archive, counted before it is parsed. Undefined for what is no JSON, or too expensive to parse. */
export function parseCounted(bytes: Buffer | undefined, bounds: JsonBounds): unknown {
  return bytes === undefined || findJsonExcess(bytes, bounds) !== undefined ? undefined : parseJson(bytes);
}

/** Undefined for what is no JSON. The caller has counted it. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
