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
 * Members that no schema names have no effect, at any depth of any body: no user gives themselves a role, an owner or
 * an id.
 */

const plantedTime = '2001-02-03T04:05:06.000Z';
const planted: Record<string, unknown> = {
  id: 'planted-id',
  userId: 'planted-user',
  user_id: 'planted-user',
  ownerId: 'planted-owner',
  owner_id: 'planted-owner',
  role: 'admin',
  enabled: true,
  email: 'planted@example.org',
  emailVerified: true,
  createdAt: plantedTime,
  updatedAt: plantedTime,
  created_at: plantedTime,
  seq: 987_654_321,
  mustChangePassword: false,
  providerSettingsEnabled: true,
  mcpSettingsEnabled: true,
  sessionId: 'planted-session',
  state: 'applied',
  status: 'complete',
  assistantId: 'planted-assistant',
  requestHash: 'planted-hash',
  token: 'planted-token',
  apiKeyEnvelope: 'planted-envelope',
  isDefault: true,
  position: 987_654_321,
};

const names = Object.keys(endpoints)
  .filter((name): name is EndpointName => Object.hasOwn(endpoints, name))
  .filter((name) => !beingBuilt.includes(name))
  // The gateway takes tokens only, and stores nothing of a body.
  .filter((name) => !isOfGateway(endpoints[name]));

function isOfGateway({ errorsAs }: EndpointSpec): boolean {
  return errorsAs !== undefined;
}
const specOf = (name: EndpointName): EndpointSpec => endpoints[name];

for (const edition of ['community', 'managed'] as const) {
  let world: World;
  before(async () => {
    world = await makeWorld(edition);
  });
  after(() => world.stop());

  // A manifest refuses unknown members (provision-errors.test.ts), a registry of models is a map of names, and a
  // deleted account leaves no user to inspect.
  for (const name of names.filter(
    (name) => specOf(name).body !== undefined && !/^(postProvision|putModelRegistry|deleteMe)$/.test(name),
  )) {
    const spec = specOf(name);
    if (spec.edition !== undefined && spec.edition !== edition) continue;
    // Endpoints for every user are the same in both.
    if (edition === 'managed' && spec.edition === undefined && /^(public|session|workspace)/.test(spec.access))
      continue;
    test(`${edition}: ${spec.method} ${spec.path} ignores unknown members`, async () => {
      await world.clearCatalogues();
      const byAdministrator =
        spec.access.startsWith('admin') || (edition === 'managed' && spec.access === 'provider-editor');
      const kind = byAdministrator ? 'administrator' : spec.access === 'workspace' ? 'workspace' : 'plain user';
      const person = (own: Actor) => own.records.person;
      const actor = await world.makeActor(kind, { requests: [samples[name].request, person] });
      const bystander = await world.makeActor('without provider rights', { requests: [person] });
      const since = await timeOf(world);
      const before = await usersBut(world, actor, since);
      const request = samples[name].request(actor);
      const body = plant(request.body, z.toJSONSchema(spec.body ?? z.any(), options));
      const answer = await send(world, spec, actor, { ...request, body });
      assert.equal(answer.status, samples[name].own, answer.text);
      assert.deepEqual(await usersBut(world, actor, since), before);
      const own = await userOf(world, actor);
      assert.deepEqual(
        [own.role, own.enabled, own.email],
        [kind === 'administrator' ? 'admin' : 'user', true, actor.email],
      );
      assert.equal(await isPlanted(world), false, 'a planted value was stored');
      assert.doesNotMatch(answer.text, /planted|2001-02-03|987654321/);
      assert.notEqual(bystander.id, actor.id);
    });
  }
}

const options = { io: 'input', unrepresentable: 'any' } as const;

/** Adds every planted member to every object, except those that its schema has. */
function plant(value: Json, schema: Json): Json {
  if (Array.isArray(value)) return value.map((item) => plant(item, itemSchema(schema)));
  if (typeof value !== 'object' || value === null) return value;
  const known = branches(schema).flatMap((branch) => Object.entries(branch.properties ?? {}));
  const members = Object.fromEntries(known);
  const copy: Record<string, unknown> = {};
  for (const [name, extra] of Object.entries(planted)) if (!(name in members)) copy[name] = extra;
  for (const [name, member] of Object.entries(value)) copy[name] = plant(member, members[name]);
  return copy;
}

function branches(schema: Json): Json[] {
  if (schema === undefined) return [];
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(branches);
}

function itemSchema(schema: Json): Json {
  return branches(schema).find((branch) => branch.items !== undefined)?.items;
}

async function send(world: World, spec: EndpointSpec, actor: Actor, sample: SampleRequest) {
  const { params, query: own, body, headers } = sample;
  const path = spec.path.replace(/:(\w+)/g, (_, name: string) => params?.[name] ?? '');
  // The same members in the query must have no effect either.
  const query = new URLSearchParams(own);
  for (const [name, value] of Object.entries(planted)) if (!query.has(name)) query.set(name, String(value));
  const response = await fetch(`${world.app.url}${path}?${query}`, {
    method: spec.method,
    headers: { ...actor.credentials, ...headers, 'content-type': 'application/json', 'x-user-id': 'planted-user' },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

/** Every user except the caller and the one whom the request is about; of users made meanwhile only their rights. */
async function usersBut(world: World, actor: Actor, since: Date): Promise<string[]> {
  const { rows } = await world.app.database.database.pool.query<{ row: string }>(
    `select case when created_at < $3 then u::text else role || enabled || must_change_password end as row
      from users u where id not in ($1, $2) and (created_at < $3 or role <> 'user' or not enabled) order by id`,
    [actor.id, actor.records.person, since],
  );
  return rows.map(({ row }) => row);
}

async function timeOf(world: World): Promise<Date> {
  const { rows } = await world.app.database.database.pool.query<{ now: Date }>('select clock_timestamp() as now');
  return rows[0]?.now ?? assert.fail();
}

async function userOf(world: World, actor: Actor): Promise<Json> {
  const { rows } = await world.app.database.database.pool.query('select * from users where id = $1', [actor.id]);
  return rows[0];
}

/** Searches every column of every table. */
async function isPlanted(world: World): Promise<boolean> {
  const { pool } = world.app.database.database;
  const { rows } = await pool.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
  );
  const texts = rows.map(({ name }) => `select to_jsonb(t)::text as row from ${name} t`).join(' union all ');
  const found = await pool.query({
    name: 'planted',
    text: `select 1 from (${texts}) rows where row ~ $1 limit 1`,
    values: ['planted|2001-02-03|987654321'],
  });
  return found.rowCount !== 0;
}
