import { isRecord } from '../../stream/storable-text.ts';
import type { RawSchema } from './schema-references.ts';

/** The forms of JSON Schema that servers accept for the arguments of a tool. */
export type SchemaForm =
  /** The common keywords of JSON Schema: OpenAI and most compatible servers. */
  | 'json'
  /** The same, with names of properties in a limited alphabet: Anthropic. */
  | 'anthropic'
  /** The same, with one type in every schema: Kimi, and Gemini at its compatible address. */
  | 'typed'
  /** Gemini's `parametersJsonSchema`. */
  | 'gemini'
  /** The OpenAPI form of Gemini's older `parameters`. */
  | 'plain';

type Reader = (value: unknown) => unknown;

const maxDescription = 4_000;
const maxEnum = 500;
const maxDefault = 1_000;

/** The keywords of a schema that carries no other schema. A value of the wrong type counts as absent. */
const readers: Record<string, Reader> = {
  title: (value) => text(value, 200),
  description: (value) => text(value, maxDescription),
  default: (value) => (isScalar(value) && JSON.stringify(value).length <= maxDefault ? value : undefined),
  format: (value) => text(value, 64),
  pattern: readPattern,
  minimum: readNumber,
  maximum: readNumber,
  exclusiveMinimum: readNumber,
  exclusiveMaximum: readNumber,
  multipleOf: readNumber,
  minLength: readCount,
  maxLength: readCount,
  minItems: readCount,
  maxItems: readCount,
  minProperties: readCount,
  maxProperties: readCount,
  uniqueItems: (value) => (typeof value === 'boolean' ? value : undefined),
};

const everyKeyword = Object.keys(readers);
const geminiKeywords = ['title', 'description', 'format', 'minimum', 'maximum', 'minItems', 'maxItems'];
const known: Record<SchemaForm, readonly string[]> = {
  json: everyKeyword,
  anthropic: everyKeyword,
  typed: ['title', 'description', 'default', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'],
  gemini: geminiKeywords,
  plain: [...geminiKeywords, 'minLength', 'maxLength', 'pattern'],
};
/** Gemini refuses other formats. */
const geminiFormats = new Set(['date-time', 'enum', 'float', 'double', 'int32', 'int64']);

const types = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);
/** Types of programming languages, as generators of schemas write them. */
const aliases: Record<string, string> = {
  int: 'integer',
  int32: 'integer',
  int64: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  decimal: 'number',
  bool: 'boolean',
  str: 'string',
  text: 'string',
  date: 'string',
  datetime: 'string',
  dict: 'object',
  map: 'object',
  list: 'array',
  tuple: 'array',
  set: 'array',
  none: 'null',
  nil: 'null',
};

/** The keywords that a server accepts, each with a value of its type. */
export function readKeywords(schema: RawSchema, form: SchemaForm): RawSchema {
  const isGemini = form === 'gemini' || form === 'plain';
  const members = known[form].flatMap((name): [string, unknown][] => {
    const value = Object.hasOwn(schema, name) ? readers[name]?.(schema[name]) : undefined;
    if (value === undefined) return [];
    return name === 'format' && isGemini && !geminiFormats.has(String(value)) ? [] : [[name, value]];
  });
  return Object.fromEntries(members);
}

/** The types that a schema names or, without any, that its other keywords belong to. */
export function readTypes(schema: RawSchema): string[] {
  const named = [schema.type]
    .flat()
    .filter((type) => typeof type === 'string')
    .map((type) => aliases[type.toLowerCase()] ?? type.toLowerCase())
    .filter((type) => types.has(type));
  const found = named.length > 0 ? named : inferTypes(schema);
  if (schema.nullable === true && found.length > 0) found.push('null');
  return [...new Set(found)];
}

function inferTypes(schema: RawSchema): string[] {
  if (isRecord(schema.properties) || isRecord(schema.additionalProperties)) return ['object'];
  if (schema.items !== undefined || schema.prefixItems !== undefined) return ['array'];
  const values = readEnum(schema) ?? [];
  return [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))].filter((type) =>
    types.has(type),
  );
}

/** The values that are allowed; `const` is the one of them. */
export function readEnum(schema: RawSchema): unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return isScalar(schema.const) ? [schema.const] : undefined;
  if (!Array.isArray(schema.enum)) return undefined;
  const values = [...new Set(schema.enum.slice(0, maxEnum).filter(isScalar))];
  return values.length === 0 || schema.enum.length > maxEnum ? undefined : values;
}

function text(value: unknown, max: number): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, max).toWellFormed() : undefined;
}

function readNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Servers compile patterns with engines of their own: whole-string patterns without extensions work in all of them. */
function readPattern(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 200) return undefined;
  if (!value.startsWith('^') || !value.endsWith('$') || value.includes('(?') || /\\[pPuUbBkAzZ1-9]/.test(value))
    return undefined;
  try {
    new RegExp(value, 'u');
    return value;
  } catch {
    return undefined;
  }
}

function isScalar(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
