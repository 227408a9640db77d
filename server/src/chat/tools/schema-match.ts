import { cachedSchema } from '../model/fitting/tools/tools.ts';
import { isRecord } from '../model/stream/storable-text.ts';

/**
 * Arguments compared with a tool's schema, as far as it says which types and values are allowed. Tools check their
 * arguments themselves; this only decides whether a repair is what the model meant.
 */

type Schema = Record<string, unknown>;

const maxDepth = 32;

/** The arguments with words in place of numbers, truth values, lists and objects read, where the schema wants those. */
export function coerceArguments(inputSchema: Schema, input: Schema): Schema | undefined {
  const schema = cachedSchema(inputSchema, 'json');
  if (schema === undefined) return undefined;
  const coerced = coerce(schema, input, 0);
  return isRecord(coerced) && matches(schema, coerced, 0) ? coerced : undefined;
}

/** True if the arguments are what the schema asks for. */
export function matchesSchema(inputSchema: Schema, input: Schema): boolean {
  const schema = cachedSchema(inputSchema, 'json');
  return schema !== undefined && matches(schema, input, 0);
}

function coerce(schema: Schema, value: unknown, depth: number): unknown {
  if (depth > maxDepth || matches(schema, value, depth)) return value;
  const alternatives = Array.isArray(schema.anyOf) ? schema.anyOf.filter(isRecord) : [];
  for (const each of alternatives) {
    const read = coerce(each, value, depth + 1);
    if (matches(each, read, depth + 1)) return read;
  }
  const types = typesOf(schema);
  const read = typeof value === 'string' ? fromText(types, value) : toText(types, value);
  if (types.includes('array') && isRecord(schema.items) && !Array.isArray(read) && !isRecord(read)) {
    return [coerce(schema.items, read, depth + 1)];
  }
  if (Array.isArray(read) && isRecord(schema.items)) {
    const { items } = schema;
    return read.map((item) => coerce(items, item, depth + 1));
  }
  if (!isRecord(read) || !isRecord(schema.properties)) return read;
  const { properties } = schema;
  const members = Object.entries(read).map(([name, member]) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, isRecord(own) ? coerce(own, member, depth + 1) : member] as const;
  });
  return Object.fromEntries(members);
}

/** A number or truth value as text, if only text is allowed. */
function toText(types: readonly string[], value: unknown): unknown {
  const isPlain = typeof value === 'number' || typeof value === 'boolean';
  return isPlain && types.length > 0 && types.every((type) => type === 'string' || type === 'null')
    ? String(value)
    : value;
}

/** A text as one of the types; the text itself if it is none of them. */
function fromText(types: readonly string[], text: string): unknown {
  const trimmed = text.trim();
  if (types.includes('integer') && /^-?\d{1,15}(?:\.0{1,9})?$/.test(trimmed)) return Number(trimmed);
  if (types.includes('number') && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(trimmed)) return Number(trimmed);
  const word = trimmed.toLowerCase();
  if (types.includes('boolean') && (word === 'true' || word === 'false')) return word === 'true';
  if (types.includes('null') && (word === 'null' || word === 'none')) return null;
  const isMeant =
    (types.includes('object') && trimmed.startsWith('{')) || (types.includes('array') && trimmed.startsWith('['));
  if (!isMeant) return text;
  try {
    return JSON.parse(trimmed);
  } catch {
    return text;
  }
}

function matches(schema: Schema, value: unknown, depth: number): boolean {
  if (depth > maxDepth) return true;
  if (Array.isArray(schema.anyOf))
    return schema.anyOf.some((each) => !isRecord(each) || matches(each, value, depth + 1));
  if (Array.isArray(schema.enum) && !schema.enum.some((allowed) => allowed === value)) return false;
  const types = typesOf(schema);
  if (types.length > 0 && !types.some((type) => isOfType(type, value))) return false;
  const { items, properties, required } = schema;
  if (Array.isArray(value)) return !isRecord(items) || value.every((item) => matches(items, item, depth + 1));
  if (!isRecord(value)) return true;
  const isWhole =
    !Array.isArray(required) || required.every((name) => typeof name === 'string' && Object.hasOwn(value, name));
  return (
    isWhole && hasMembers(isRecord(properties) ? properties : {}, value, schema.additionalProperties === false, depth)
  );
}

/** Many models send null for an argument that they leave out. */
function hasMembers(properties: Schema, value: Schema, isClosed: boolean, depth: number): boolean {
  return Object.entries(value).every(([name, member]) => {
    if (!Object.hasOwn(properties, name)) return !isClosed;
    const own = properties[name];
    return member === null || !isRecord(own) || matches(own, member, depth + 1);
  });
}

function typesOf({ type }: Schema): string[] {
  return [type].flat().filter((each) => typeof each === 'string');
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'object':
      return isRecord(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}
