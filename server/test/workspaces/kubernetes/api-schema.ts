import { readFileSync } from 'node:fs';

/**
 * The official OpenAPI definitions of Kubernetes v1.20.2 (docs/decisions/0023-kubernetes-workspaces.md has their
 * source). Stricter than the originals: an undefined field is an error, as in server-side apply.
 */
type Schema = {
  type?: string;
  format?: string;
  $ref?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema;
};
type Document = { version: string; kinds: Record<string, string>; definitions: Record<string, Schema> };

const file = new URL('api-v1.20.2.json', import.meta.url);
const document = JSON.parse(readFileSync(file, 'utf8')) as Document;
const quantity = /^[+-]?(\d+|\d+\.\d*|\.\d+)(m|[kMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;

/** Faults of an object to be written to a cluster; empty if there are none. */
export function faultsOf(object: unknown): string[] {
  const { apiVersion, kind } = (object ?? {}) as { apiVersion?: unknown; kind?: unknown };
  const name = document.kinds[`${apiVersion} ${kind}`];
  if (name === undefined) return [`no such kind: ${apiVersion} ${kind}`];
  return faults(object, { $ref: `#/definitions/${name}` }, kind as string);
}

function faults(value: unknown, schema: Schema, path: string): string[] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/definitions/', '');
    const target = document.definitions[name];
    if (target === undefined) return [`${path}: ${name} is not among the definitions`];
    if (name.endsWith('.Quantity')) return quantityFaults(value, path);
    return faults(value, target, path);
  }
  if (schema.format === 'int-or-string') {
    return typeof value === 'string' || Number.isInteger(value) ? [] : [`${path}: neither a whole number nor a text`];
  }
  switch (schema.type) {
    case 'object':
      return objectFaults(value, schema, path);
    case 'array':
      if (!Array.isArray(value)) return [`${path}: no list`];
      return value.flatMap((item, at) => faults(item, schema.items ?? {}, `${path}[${at}]`));
    case 'integer':
      return Number.isInteger(value) ? [] : [`${path}: no whole number`];
    case 'number':
    case 'boolean':
      return typeof value === schema.type ? [] : [`${path}: no ${schema.type}`];
    case 'string':
      if (typeof value !== 'string') return [`${path}: no text`];
      return schema.format === 'byte' && Buffer.from(value, 'base64').toString('base64') !== value
        ? [`${path}: no base64`]
        : [];
    default:
      return [];
  }
}

function objectFaults(value: unknown, schema: Schema, path: string): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path}: no object`];
  const missing = (schema.required ?? []).filter((key) => !Object.hasOwn(value, key));
  const inner = Object.entries(value).flatMap(([key, item]) => {
    const known = schema.properties?.[key] ?? schema.additionalProperties;
    return known === undefined ? [`${path}.${key}: no such field`] : faults(item, known, `${path}.${key}`);
  });
  return [...missing.map((key) => `${path}.${key}: missing`), ...inner];
}

function quantityFaults(value: unknown, path: string): string[] {
  return typeof value === 'number' || (typeof value === 'string' && quantity.test(value))
    ? []
    : [`${path}: no quantity`];
}
