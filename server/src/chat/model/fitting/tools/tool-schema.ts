import { isRecord } from '../../stream/storable-text.ts';
import { readEnum, readKeywords, readTypes, type SchemaForm } from './schema-keywords.ts';
import {
  flattenAlternatives,
  listOf,
  namesOf,
  type RawSchema,
  type Resolved,
  resolveSchema,
} from './schema-references.ts';

/** Bounds of one tool: a schema beyond them allows anything, so that no definition costs the whole request. */
const maxNodes = 1_500;
const maxDepth = 20;
const maxCharacters = 100_000;
const maxProperties = 300;

const anthropicName = /^[\w.-]{1,64}$/;

type Walk = { root: RawSchema; form: SchemaForm; nodes: number; characters: number };

/**
 * The schema of a tool's arguments in the form that a server accepts: an object with `properties`, arrays with `items`,
 * no references, no combination at the top, only keywords that are known there. Undefined if the arguments are no
 * object, or need a property that the server cannot name.
 */
export function fitSchema(given: unknown, form: SchemaForm): RawSchema | undefined {
  if (!isRecord(given)) return undefined;
  const walk: Walk = { root: given, form, nodes: 0, characters: 0 };
  const top = flattenAlternatives(given, resolveSchema(given, given, []));
  const types = readTypes(top.schema);
  if (types.length > 0 && !types.includes('object')) return undefined;
  if (form === 'anthropic' && namesOf(top.schema.required).some((name) => !anthropicName.test(name))) return undefined;
  return fitObject(walk, { ...top, schema: { ...top.schema, type: 'object' } }, 0);
}

function fitMember(walk: Walk, given: unknown, depth: number, trail: readonly string[]): RawSchema {
  walk.nodes += 1;
  const isCut = walk.nodes > maxNodes || depth > maxDepth || walk.characters > maxCharacters;
  if (isCut) return typed(walk, {}, []);
  const resolved = resolveSchema(walk.root, given, trail);
  const { schema } = resolved;
  const hasAlternatives = [schema.anyOf, schema.oneOf].some(Array.isArray);
  if (hasAlternatives && isRecord(schema.properties)) {
    return fitObject(walk, flattenAlternatives(walk.root, resolved, 2), depth);
  }
  if (hasAlternatives) return fitAlternatives(walk, resolved, depth);
  const types = readTypes(schema);
  if (types.includes('object')) return fitObject(walk, resolved, depth);
  return fitValue(walk, resolved, depth);
}

function fitObject(walk: Walk, { schema, trail }: Resolved, depth: number): RawSchema {
  const given = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  const properties = new Map<string, RawSchema>();
  const add = (name: string, member: unknown): void => {
    if (properties.size >= maxProperties || (walk.form === 'anthropic' && !anthropicName.test(name))) return;
    properties.set(name, fitMember(walk, member, depth + 1, trail));
  };
  for (const [name, member] of given) add(name, member);
  const required = [...new Set(namesOf(schema.required))];
  for (const name of required) if (!properties.has(name)) add(name, {});
  const kept = required.filter((name) => properties.has(name));
  if (walk.form === 'plain' && depth > 0 && properties.size === 0) return objectText(schema);
  return {
    ...described(walk, schema),
    ...typed(walk, {}, objectTypes(walk, schema)),
    properties: Object.fromEntries(properties),
    ...(kept.length === 0 ? {} : { required: kept }),
    ...furtherProperties(walk, { schema, trail }, depth),
  };
}

/** An object that could also be a list is an object: a list needs items of its own. */
function objectTypes({ form }: Walk, schema: RawSchema): string[] {
  const isOnlyObject = form === 'typed' || form === 'plain';
  return readTypes(schema).filter((type) => (isOnlyObject ? ['object', 'null'].includes(type) : type !== 'array'));
}

/** The older form of Gemini has no object without properties: its JSON is written as text. */
function objectText({ description }: RawSchema): RawSchema {
  const words = typeof description === 'string' ? `${description.slice(0, 1000)} ` : '';
  return { type: 'string', description: `${words}(a JSON object)` };
}

function furtherProperties(walk: Walk, { schema, trail }: Resolved, depth: number): RawSchema {
  const further = schema.additionalProperties;
  if (walk.form === 'typed' || walk.form === 'plain') return {};
  if (further === false) return { additionalProperties: false };
  if (!isRecord(further) || Object.keys(further).length === 0) return {};
  return { additionalProperties: fitMember(walk, further, depth + 1, trail) };
}

function fitAlternatives(walk: Walk, { schema, trail }: Resolved, depth: number): RawSchema {
  const inherited = schema.type === undefined ? {} : { type: schema.type };
  const all = [...listOf(schema.anyOf), ...listOf(schema.oneOf)];
  const given = walk.form === 'plain' ? all.filter((each) => !isNull(each)) : all;
  const nullable = given.length < all.length ? { nullable: true } : {};
  const fitted = given.map((each) =>
    fitMember(walk, isRecord(each) ? { ...inherited, ...each } : {}, depth + 1, trail),
  );
  const alternatives = [...new Map(fitted.map((each) => [JSON.stringify(each), each])).values()];
  const [only] = alternatives;
  const head = { ...described(walk, schema), ...nullable };
  if (only === undefined) return typed(walk, head, []);
  return alternatives.length === 1 ? { ...only, ...head } : { ...head, anyOf: alternatives };
}

function isNull(given: unknown): boolean {
  return isRecord(given) && given.type === 'null';
}

function fitValue(walk: Walk, { schema, trail }: Resolved, depth: number): RawSchema {
  const types = readTypes(schema);
  const keywords = described(walk, schema);
  const items = types.includes('array') ? { items: fitItems(walk, { schema, trail }, depth) } : {};
  const values = readEnum(schema);
  if (values === undefined) return { ...typed(walk, keywords, types), ...items };
  walk.characters += JSON.stringify(values).length;
  if (walk.form === 'plain') return { ...typed(walk, keywords, ['string']), enum: values.map(String) };
  const isKnown = walk.form !== 'gemini' || values.every((value) => ['string', 'number'].includes(typeof value));
  return { ...typed(walk, keywords, types), ...items, ...(isKnown ? { enum: values } : {}) };
}

/** One schema for all items; those of a tuple become alternatives. */
function fitItems(walk: Walk, { schema, trail }: Resolved, depth: number): RawSchema {
  const tuple = [schema.prefixItems, schema.items].find(Array.isArray);
  return fitMember(walk, tuple === undefined ? schema.items : { anyOf: tuple }, depth + 1, trail);
}

function described(walk: Walk, schema: RawSchema): RawSchema {
  const keywords = readKeywords(schema, walk.form);
  walk.characters += JSON.stringify(keywords).length;
  return keywords;
}

/** The types as the server writes them. */
function typed(walk: Walk, keywords: RawSchema, types: readonly string[]): RawSchema {
  const [first = 'string'] = types.filter((type) => type !== 'null');
  if (walk.form === 'plain') return { type: first, ...keywords, ...(types.includes('null') ? { nullable: true } : {}) };
  if (walk.form === 'typed') return { type: types.length === 1 ? types[0] : first, ...keywords };
  if (types.length === 0) return keywords;
  return { type: types.length === 1 ? types[0] : [...types], ...keywords };
}
