import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { EndpointSpec } from '@homeport/contracts/endpoint';
import { type EndpointName, endpoints } from '@homeport/contracts/endpoints';
import { z } from 'zod';
import type { Json } from '../app.ts';
import type { SampleRequest } from './authorization-sample.ts';
import { samples } from './authorization-samples.ts';
import { beingBuilt } from './authorization-samples-workspace.ts';
import { type Actor, makeWorld, type World } from './authorization-world.ts';

/**
 * Every field of every row, outside its limit: 400 `invalid_request` that names the field. The values are derived from
 * the schemas, so a new field is tried without a change here.
 */

const names = Object.keys(endpoints)
  .filter((name): name is EndpointName => Object.hasOwn(endpoints, name))
  .filter((name) => !beingBuilt.includes(name))
  // A manifest has hundreds of fields and tests of its own: provision-errors.test.ts.
  .filter((name) => name !== 'postProvision')
  // The gateway answers in the shapes of other APIs: gateway.test.ts.
  .filter((name) => !isOfGateway(endpoints[name]));

/** Long texts cost time and prove no more. */
const longestTried = 200_000;
const missing = Symbol('missing');

function isOfGateway({ errorsAs }: EndpointSpec): boolean {
  return errorsAs !== undefined;
}

let world: World;
let user: Actor;
let administrator: Actor;
let workspace: Actor;
let tried = 0;
before(async () => {
  world = await makeWorld('community');
  user = await world.makeActor('plain user');
  administrator = await world.makeActor('administrator');
  workspace = await world.makeActor('workspace');
});
after(() => world.stop());

for (const name of names) {
  const spec: EndpointSpec = endpoints[name];
  const cases = casesOf(spec);
  if (cases.length === 0) continue;
  test(`${spec.method} ${spec.path}: rejects ${cases.length} values outside their limits`, async () => {
    const actor = spec.access === 'workspace' ? workspace : spec.access.startsWith('admin') ? administrator : user;
    const request = samples[name].request(actor);
    const digest = await world.digest();
    for (const { part, path, value, why } of cases) {
      const { status, text } = await send(spec, actor, changed(request, part, path, value));
      const where = `${part}.${path.join('.')} ${why}: ${text.slice(0, 300)}`;
      assert.equal(status, 400, where);
      const { error }: Json = JSON.parse(text);
      assert.equal(error.code, 'invalid_request', where);
      const reported: string[] = error.details.map((detail: Json) => detail.path);
      assert.ok(reported.includes(path.join('.')), `${where} tells of ${reported}`);
      tried += 1;
    }
    assert.equal(await world.digest(), digest, 'a refused request changed something');
  });
}

test('every text, number, list and record of a request has a limit', () => {
  const unlimited = names.flatMap((name) => {
    const { params, query, body }: EndpointSpec = endpoints[name];
    return [params, query, body].flatMap((schema) => (schema === undefined ? [] : limitless(jsonSchema(schema), name)));
  });
  // Checked by hand in egress/headers.ts: their number, names and values.
  assert.deepEqual(
    unlimited.filter((place) => !/\.headers\.\*$/.test(place)),
    [],
  );
});

test('the cases are not empty', () => {
  assert.ok(tried > 500, `${tried} values`);
});

type Part = 'params' | 'query' | 'body';
type Case = { part: Part; path: string[]; value: unknown; why: string };
type Schema = {
  /** Several for a nullable boolean. */
  type?: string | string[];
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  maxProperties?: number;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
};

function jsonSchema(schema: z.ZodType): Schema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
}

const limited = ['string', 'number', 'integer', 'array'];

function limitless(schema: Schema, place: string): string[] {
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    limitless(member, `${place}.${name}`),
  );
  const branches = (schema.anyOf ?? []).flatMap((branch) => limitless(branch, place));
  const values = schema.additionalProperties ?? schema.items;
  const inner = typeof values === 'object' ? limitless(values, `${place}.*`) : [];
  const isFixed = (schema.enum ?? schema.const) !== undefined;
  const hasLimit =
    (schema.type === 'string' && (schema.maxLength ?? schema.pattern) !== undefined) ||
    ((schema.type === 'number' || schema.type === 'integer') && schema.maximum !== undefined) ||
    (schema.type === 'array' && schema.maxItems !== undefined) ||
    (schema.type === 'object' && schema.maxProperties !== undefined);
  // Members that accept anything are not walked.
  const isRecord = schema.properties === undefined && Object.keys(schema.additionalProperties ?? {}).length > 0;
  const needsLimit = [schema.type].flat().some((type) => limited.includes(type ?? '')) || isRecord;
  return [...(needsLimit && !isFixed && !hasLimit ? [place] : []), ...members, ...branches, ...inner];
}

function casesOf(spec: EndpointSpec): Case[] {
  const cases: Case[] = [];
  for (const part of ['params', 'query', 'body'] as const) {
    const schema = spec[part];
    if (schema === undefined) continue;
    const json = jsonSchema(schema);
    // The shape of such a body follows from its members only: fields are tried one shape at a time elsewhere.
    if (json.anyOf === undefined) collect(json, part, [], cases);
  }
  return cases;
}

function collect(schema: Schema, part: Part, path: string[], cases: Case[]): void {
  const add = (value: unknown, why: string) => cases.push({ part, path, value, why });
  if (path.length > 0) for (const [value, why] of outside(schema, part)) add(value, why);
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const place = [...path, name];
    collect(member, part, place, cases);
    if (schema.required?.includes(name) && part !== 'params')
      cases.push({ part, path: place, value: missing, why: 'missing' });
  }
  if (schema.items !== undefined) collect(schema.items, part, [...path, '0'], cases);
}

/** Values that the schema rejects. In paths and queries everything is text. */
function outside(schema: Schema, part: Part): [unknown, string][] {
  const branches = schema.anyOf ?? [schema];
  const isText = branches.some((branch) => branch.type === 'string');
  const found: [unknown, string][] = [];
  if (part === 'body' && branches.every((branch) => branch.type !== undefined)) {
    const types = new Set(branches.flatMap((branch) => branch.type));
    const others: [string, unknown][] = [
      ['string', 'text'],
      ['number', 7.5],
      ['boolean', true],
      ['object', { a: 1 }],
      ['array', [1]],
      ['null', null],
    ];
    for (const [type, value] of others) if (!types.has(type)) found.push([value, `is ${type}`]);
  }
  if (branches.length > 2) return found;
  const [branch] = branches.filter((candidate) => candidate.type !== 'null');
  if (branch === undefined) return found;
  const { minLength = 0, maxLength, minimum, maximum, minItems = 0, maxItems } = branch;
  if (isText && minLength > 0 && part !== 'params') found.push(['x'.repeat(minLength - 1), 'too short']);
  if (isText && maxLength !== undefined && maxLength < longestTried)
    found.push(['x'.repeat(maxLength + 1), 'too long']);
  if (isText && (branch.enum ?? branch.const ?? branch.pattern) !== undefined)
    found.push(['\u{1f995} no such', 'unknown']);
  if (branch.type === 'integer') found.push([1.5, 'a fraction']);
  if (branch.type === 'integer' && minimum !== undefined && minimum > -1e9) found.push([minimum - 1, 'too small']);
  if (branch.type === 'integer' && maximum !== undefined && maximum < 1e12) found.push([maximum + 1, 'too large']);
  if (branch.type === 'array' && minItems > 0) found.push([[], 'too few']);
  if (branch.type === 'array' && maxItems !== undefined) found.push([Array(maxItems + 1).fill('x'), 'too many']);
  return found;
}

function changed(request: SampleRequest, part: Part, path: string[], value: unknown): SampleRequest {
  const copy: Json = structuredClone({ params: {}, query: {}, ...request });
  copy[part] ??= {};
  let holder: Json = copy[part];
  const parents = path.slice(0, -1);
  for (const [index, name] of parents.entries()) {
    holder[name] ??= path[index + 1] === '0' ? [] : {};
    holder = holder[name];
  }
  const last = path.at(-1) ?? '';
  if (value === missing) delete holder[last];
  else holder[last] = value;
  return copy;
}

async function send(spec: EndpointSpec, actor: Actor, { params, query, body, headers }: SampleRequest) {
  const place = spec.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params?.[name] ?? 'missing'));
  const response = await fetch(`${world.app.url}${place}?${new URLSearchParams(query)}`, {
    method: spec.method,
    redirect: 'manual',
    headers: {
      ...actor.credentials,
      ...headers,
      ...(spec.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(spec.body === undefined ? {} : { body: JSON.stringify(body ?? {}) }),
  });
  return { status: response.status, text: await response.text() };
}
