import { isRecord } from '../../stream/storable-text.ts';

/** A JSON Schema as a tool's author wrote it. */
export type RawSchema = Record<string, unknown>;

/** A schema without `$ref` and `allOf`, with the references that led to it. */
export type Resolved = { schema: RawSchema; trail: readonly string[] };

/** Longer chains of references are cut: no author writes them. */
const maxTrail = 24;
const maxAlternatives = 32;
/** Alternatives within alternatives. */
const maxDepth = 2;
const maxProperties = 500;

/**
 * Follows `$ref` within the document and merges `allOf`, so that one plain schema is left. A reference to itself, to
 * another document or to nothing allows anything of its type.
 */
export function resolveSchema(root: RawSchema, given: unknown, trail: readonly string[], depth = 0): Resolved {
  if (!isRecord(given) || depth > maxTrail) return { schema: {}, trail };
  const { $ref: reference, ...rest } = given;
  if (typeof reference !== 'string') return mergeAll(root, rest, trail, depth);
  const target = findTarget(root, reference);
  if (!isRecord(target)) return mergeAll(root, rest, trail, depth);
  if (trail.includes(reference) || trail.length >= maxTrail) {
    return { schema: { ...(target.type === undefined ? {} : { type: target.type }), ...annotations(rest) }, trail };
  }
  const resolved = resolveSchema(root, target, [...trail, reference], depth + 1);
  return mergeAll(root, { ...resolved.schema, ...rest }, resolved.trail, depth);
}

function annotations({ title, description }: RawSchema): RawSchema {
  return { title, description };
}

function mergeAll(root: RawSchema, given: RawSchema, trail: readonly string[], depth: number): Resolved {
  const { allOf, ...own } = given;
  let schema: RawSchema = own;
  let all = trail;
  for (const part of listOf(allOf)) {
    const resolved = resolveSchema(root, part, all, depth + 1);
    all = resolved.trail;
    schema = bothOf(schema, resolved.schema);
  }
  return { schema, trail: all };
}

/** Two schemas at once: members of the first win; properties and required names of both are kept. */
function bothOf(first: RawSchema, second: RawSchema): RawSchema {
  const properties = [second.properties, first.properties].filter(isRecord).flatMap((each) => Object.entries(each));
  return {
    ...second,
    ...first,
    ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties.slice(-maxProperties)) }),
    required: [...namesOf(first.required), ...namesOf(second.required)],
  };
}

/**
 * An object whose alternatives (`anyOf`, `oneOf`) have become one set of properties: only what all of them require is
 * required, and the description tells which belong together.
 */
export function flattenAlternatives(root: RawSchema, { schema, trail }: Resolved, depth = 0): Resolved {
  const { anyOf, oneOf, ...base } = schema;
  if (depth > maxDepth) return { schema: base, trail };
  let flat: Resolved = { schema: base, trail };
  for (const alternatives of [listOf(anyOf), listOf(oneOf)]) {
    const branches = alternatives
      .map((each) => flattenAlternatives(root, resolveSchema(root, each, flat.trail), depth + 1))
      .filter((each) => each.schema.type === undefined || [each.schema.type].flat().includes('object'));
    if (branches.length === 0) continue;
    const schemas = branches.map((branch) => branch.schema);
    const union = bothOf(flat.schema, unionOf(schemas));
    const trails = branches.flatMap((branch) => branch.trail);
    flat = { schema: withHint(union, schemas), trail: [...new Set([...flat.trail, ...trails])] };
  }
  return flat;
}

function unionOf(branches: readonly RawSchema[]): RawSchema {
  const byName = new Map<string, unknown[]>();
  for (const { properties } of branches) {
    if (!isRecord(properties)) continue;
    for (const [name, property] of Object.entries(properties)) {
      const known = byName.get(name) ?? [];
      const isNew = !known.some((each) => JSON.stringify(each) === JSON.stringify(property));
      if (isNew && byName.size < maxProperties) byName.set(name, [...known, property]);
    }
  }
  const members = [...byName].map(([name, all]) => [name, all.length === 1 ? all[0] : { anyOf: all }] as const);
  const [first = [], ...others] = branches.map(({ required }) => namesOf(required));
  const shared = first.filter((name) => others.every((names) => names.includes(name)));
  return { ...(members.length === 0 ? {} : { properties: Object.fromEntries(members) }), required: shared };
}

/** Tells the model which properties an alternative needs; a name is shown as it is, as in the properties. */
function withHint(schema: RawSchema, branches: readonly RawSchema[]): RawSchema {
  const choices = branches.map(({ required }) => namesOf(required).join(', ')).filter((names) => names !== '');
  if (choices.length < 2) return schema;
  const hint = `Give the properties of one of these alternatives: ${choices.map((names) => `(${names})`).join(' or ')}.`;
  const given = typeof schema.description === 'string' ? `${schema.description}\n` : '';
  return { ...schema, description: `${given}${hint}` };
}

export function namesOf(required: unknown): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string').slice(0, maxProperties) : [];
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value.slice(0, maxAlternatives) : [];
}

/** The value at a JSON Pointer in a fragment (RFC 6901, section 6). */
function findTarget(root: RawSchema, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let found: unknown = root;
  for (const step of reference.slice(2).split('/').slice(0, maxTrail)) {
    const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(found)) found = found[Number(name)];
    else if (isRecord(found) && Object.hasOwn(found, name)) found = found[name];
    else return undefined;
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
