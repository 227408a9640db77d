import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Access, EndpointSpec } from '@homeport/contracts/endpoint';
import { type EndpointName, endpoints } from '@homeport/contracts/endpoints';
import { type ErrorCode, errorStatus } from '@homeport/contracts/errors';
import type { Json } from '../app.ts';
import { idPlaces } from './authorization-ids.ts';
import { addressOf, bodyOf } from './authorization-request.ts';
import type { IdRule, SampleRequest } from './authorization-sample.ts';
import { samples } from './authorization-samples.ts';
import { beingBuilt } from './authorization-samples-workspace.ts';
import {
  type Actor,
  type ActorKind,
  actorKinds,
  makeWorld,
  type RecordKind,
  type Records,
  type World,
} from './authorization-world.ts';

/**
 * Every endpoint of the table × every kind of caller × every id in the request × {own, foreign, missing, malformed, of
 * another type}, in both editions. The expected answer follows from the access word alone.
 */

const table: [EndpointName, EndpointSpec][] = Object.keys(endpoints)
  .filter((name): name is EndpointName => Object.hasOwn(endpoints, name))
  .filter((name) => !beingBuilt.includes(name))
  .map((name) => [name, endpoints[name]]);

for (const edition of ['community', 'managed'] as const) {
  describe(`${edition} edition`, () => {
    let world: World;
    before(async () => {
      world = await makeWorld(edition);
    });
    // Callers that are refused or only read change nothing, so they can call again.
    const lastingActors = new Map<ActorKind, Actor>();
    const lasting = async (kinds: readonly ActorKind[]): Promise<Actor[]> => {
      const made = await Promise.all(
        kinds.map(async (kind) => lastingActors.get(kind) ?? (await world.makeActor(kind))),
      );
      for (const actor of made) lastingActors.set(actor.kind, actor);
      return made;
    };
    after(() => world.stop());

    test('an id of another caller answers like a missing one, and changes nothing', async (context) => {
      const actors = await Promise.all(actorKinds.map((kind) => world.makeActor(kind, { withElsewhere: true })));
      const foreign = await world.makeForeignRecords();
      for (const [name, spec] of table) {
        if (Object.keys(samples[name].ids).length === 0 || isElsewhere(spec, edition)) continue;
        await context.test(`${spec.method} ${spec.path}`, async () => {
          const digest = await world.digest();
          // None of them changes anything, so they run at the same time.
          await Promise.all(
            actors.map(async (actor) => {
              const refusal = refusalOf(spec.access, actor.kind, edition);
              if (refusal !== undefined) return checkRefused(world, { name, spec, actor, foreign, refusal });
              for (const [place, rule] of Object.entries(samples[name].ids)) {
                await checkIds(world, { name, spec, actor, foreign, place, rule });
              }
            }),
          );
          assert.equal(await world.digest(), digest, 'a refused request changed something');
        });
      }
    });

    for (const [name, spec] of table.filter(([, spec]) => isElsewhere(spec, edition))) {
      test(`${spec.method} ${spec.path} does not exist`, async () => {
        await world.clearCatalogues();
        const actors = await lasting(actorKinds);
        const digest = await world.digest();
        await Promise.all(
          actors.map(async (actor) => {
            assertError(await send(world, spec, actor, samples[name].request(actor)), 'not_found', actor.kind);
          }),
        );
        assert.equal(await world.digest(), digest, 'a request to nowhere changed something');
      });
    }

    const here = table.filter(([, spec]) => !isElsewhere(spec, edition));
    // Callers with access fill the database, which is compared here.
    for (const [name, spec] of here) {
      test(`${spec.method} ${spec.path} refuses all others`, async () => {
        const actors = await lasting(actorKinds.filter((kind) => refusalOf(spec.access, kind, edition) !== undefined));
        const digest = await world.digest();
        await Promise.all(
          actors.map(async (actor) => {
            const refusal = refusalOf(spec.access, actor.kind, edition);
            assertError(await send(world, spec, actor, samples[name].request(actor)), refusal, actor.kind);
          }),
        );
        assert.equal(await world.digest(), digest, 'a refused request changed something');
      });
    }

    // Endpoints that read run first: others delete their records.
    for (const [name, spec] of here.toSorted(
      ([, one], [, two]) => Number(one.method !== 'GET') - Number(two.method !== 'GET'),
    )) {
      test(`${spec.method} ${spec.path} admits the callers of its access word`, async () => {
        if (spec.method !== 'GET') await world.clearCatalogues();
        for (const kind of actorKinds.filter((kind) => refusalOf(spec.access, kind, edition) === undefined)) {
          const requests = [samples[name].request];
          const [actor] = spec.method === 'GET' ? await lasting([kind]) : [await world.makeActor(kind, { requests })];
          assert.ok(actor !== undefined);
          const answer = await send(world, spec, actor, samples[name].request(actor));
          assert.equal(answer.status, samples[name].others?.[kind] ?? samples[name].own, `${kind}: ${answer.text}`);
        }
      });
    }
  });
}

test('community edition: everyone uses the records that an administrator shares, and only their owner changes them', async (context) => {
  const world = await makeWorld('community');
  context.after(() => world.stop());
  const foreign = await world.makeForeignRecords();
  const shared = [foreign.provider, foreign.model];
  const { pool } = world.app.database.database;
  await pool.query(
    `with shared as (update providers set shared_with = 'everyone' where id = $1 returning owner_id)
     update users set role = 'admin' where id in (select owner_id from shared)`,
    [foreign.provider],
  );
  const rows = async () =>
    (
      await pool.query(
        'select p, m from providers p join models m on m.provider_id = p.id where p.id = $1',
        shared.slice(0, 1),
      )
    ).rows;
  const before = await rows();
  const used: string[] = [];
  const refused: string[] = [];
  for (const [name, spec] of table) {
    if (isElsewhere(spec, 'community')) continue;
    for (const [place, rule] of Object.entries(samples[name].ids)) {
      if (rule.names !== 'provider' && rule.names !== 'model') continue;
      for (const kind of ['plain user', 'administrator'] as const) {
        if (refusalOf(spec.access, kind, 'community') !== undefined) continue;
        const make: (own: Actor) => SampleRequest = rule.request ?? samples[name].request;
        const actor = await world.makeActor(kind, { requests: [make] });
        const sendWith = (id: string): Promise<Answered> => send(world, spec, actor, withId(make(actor), place, id));
        const where = `${spec.method} ${spec.path}, ${place}, ${kind}`;
        const isEditor = spec.access === 'provider-editor' || spec.access === 'admin-for-user';
        if (isEditor && rule.uses !== true) {
          const answer = await sendWith(foreign[rule.names]);
          assertError(answer, 'not_found', where);
          assert.deepEqual(comparable(answer), comparable(await sendWith(randomUUIDv7())), where);
          refused.push(where);
        } else {
          const answer = await sendWith(foreign[rule.names]);
          assert.equal(answer.status, samples[name].own, `${where}: ${answer.text}`);
          used.push(where);
        }
      }
    }
  }
  assert.deepEqual(await rows(), before);
  assert.ok(used.length >= 12 && refused.length >= 18, `${used.length} used, ${refused.length} refused`);
});

test('the matrix covers every id in a request', () => {
  for (const [name, spec] of table) assert.deepEqual(Object.keys(samples[name].ids).sort(), idPlaces(spec), name);
});

function isElsewhere(spec: EndpointSpec, edition: World['edition']): boolean {
  return spec.edition !== undefined && spec.edition !== edition;
}

/** The error code with which the access word refuses this caller; undefined if it admits them. */
function refusalOf(access: Access, kind: ActorKind, edition: World['edition']): ErrorCode | undefined {
  if (access === 'public') return undefined;
  if (access === 'token') return 'invalid_api_key';
  // Each kind of identity opens its own endpoints only.
  if ((access === 'workspace') !== /workspace/.test(kind) || kind === 'stopped workspace') return 'unauthorized';
  if (kind === 'workspace') return undefined;
  if (kind === 'workspace of a disabled account') return 'account_disabled';
  if (kind === 'workspace of a password to change') return 'password_change_required';
  if (kind === 'nobody' || kind === 'tampered cookie' || kind === 'expired session') return 'unauthorized';
  if (kind === 'disabled') return 'account_disabled';
  if (access === 'session-any-password') return undefined;
  if (kind === 'must change password') return 'password_change_required';
  if (kind === 'administrator') return undefined;
  if (access === 'admin' || access === 'admin-for-user') return 'forbidden';
  if (access === 'mcp-editor') return kind === 'without MCP rights' ? 'mcp_settings_disabled' : undefined;
  if (access !== 'provider-editor') return undefined;
  if (edition === 'managed') return 'forbidden';
  return kind === 'without provider rights' ? 'provider_settings_disabled' : undefined;
}

type Case = { name: EndpointName; spec: EndpointSpec; actor: Actor; foreign: Records };

/** Refused before any id is read: valid ids, and impossible ones, in all places at the same time. */
async function checkRefused(
  world: World,
  { name, spec, actor, foreign, refusal }: Case & { refusal: ErrorCode },
): Promise<void> {
  const shapes = Map.groupBy(Object.entries(samples[name].ids), ([, rule]) => requestOf(name, rule));
  for (const [make, places] of shapes) {
    for (const idOf of [
      (rule: IdRule) => foreignIds(rule, actor, foreign, spec.access)[0],
      (rule: IdRule, place: string) => (isLookedUp(rule) ? malformedIds(rule, place).at(-1) : undefined),
    ]) {
      let request = make(actor);
      const ids = places.map(([place, rule]): [string, string | undefined] => [place, idOf(rule, place)]);
      for (const [place, id] of ids) if (id !== undefined && id !== '') request = withId(request, place, id);
      assertError(await send(world, spec, actor, request), refusal, `${actor.kind}, ${JSON.stringify(ids)}`);
    }
  }
}

async function checkIds(
  world: World,
  { name, spec, actor, foreign, place, rule }: Case & { place: string; rule: IdRule },
): Promise<void> {
  if (!isLookedUp(rule)) return;
  const make = requestOf(name, rule);
  const sendWith = (id: string) => send(world, spec, actor, withId(make(actor), place, id));
  const where = (id: string) => `${actor.kind}, ${place} = ${JSON.stringify(id.slice(0, 40))}`;
  const withIds = samples[name].withIds?.[actor.kind];
  const all = foreignIds(rule, actor, foreign, spec.access).filter((id) => !mayUseForeign(rule, actor, foreign, id));
  const isThorough = meetsEveryId(actor.kind);
  const ids = isThorough ? all : all.slice(0, 2);
  const malformed = malformedIds(rule, place);
  for (const id of isThorough ? malformed : malformed.slice(-1)) {
    assertError(await sendWith(id), 'invalid_request', where(id));
  }
  if (withIds !== undefined) {
    for (const id of ids) assertError(await sendWith(id), withIds, where(id));
    return;
  }
  const answers: Answered[] = [];
  for (const id of ids) {
    const answer = await sendWith(id);
    answers.push(answer);
    if (rule.names === 'new') assertError(answer, rule.taken, where(id));
    else if (!('unknown' in rule) || rule.unknown === undefined) assertError(answer, 'not_found', where(id));
    else assert.equal(answer.status, rule.unknown, `${where(id)}: ${answer.text}`);
  }
  const [first, ...others] = answers.map(comparable);
  for (const other of others) assert.deepEqual(other, first, `${actor.kind}, ${place}`);
}

function requestOf(name: EndpointName, rule: IdRule): (actor: Actor) => SampleRequest {
  return ('request' in rule ? rule.request : undefined) ?? samples[name].request;
}

function isLookedUp({ names }: IdRule): boolean {
  return names !== 'text' && names !== 'shown elsewhere';
}

/** The other kinds that may call differ from a plain user in whether they may, not in what their ids mean. */
function meetsEveryId(kind: ActorKind): boolean {
  return kind === 'plain user' || kind === 'administrator' || kind === 'workspace';
}

/** Administrators may rename and archive any project (contract.md section 5). */
function mayUseForeign(rule: IdRule, actor: Actor, foreign: Records, id: string): boolean {
  if (!('openTo' in rule) || rule.openTo !== actor.kind) return false;
  return id === foreign[rule.names];
}

/** Ids that the caller can't access: all must be answered alike. */
function foreignIds(rule: IdRule, actor: Actor, foreign: Records, access: Access): string[] {
  if (rule.names === 'text' || rule.names === 'shown elsewhere') return [];
  if (rule.names === 'new') return [foreign[rule.takenBy]];
  const missing = [randomUUIDv7(), '00000000-0000-0000-0000-000000000000', 'not-an-id', 'x'.repeat(128)];
  if (rule.names === 'person' || rule.names === 'offer') return [...missing, foreign.chat];
  // The administrator's own records are not that user's.
  const isOfUser = access === 'admin-for-user' && (rule.names === 'provider' || rule.names === 'model');
  const own = isOfUser ? [actor.records[rule.names]] : [];
  const otherType = rule.names === 'chat' ? actor.records.model : actor.records.chat;
  return [
    foreign[rule.names],
    ...missing,
    ...own,
    otherType,
    ...('anywhere' in rule ? [] : elsewhere(rule.names, actor)),
    foreign[rule.names].toUpperCase(),
  ];
}

/** The caller's own, but of another conversation or project. */
function elsewhere(kind: RecordKind, actor: Actor): string[] {
  const isInside = ['message', 'answer', 'input', 'member', 'artifact'].includes(kind);
  return isInside && actor.elsewhere !== undefined ? [actor.elsewhere[kind]] : [];
}

function malformedIds(rule: IdRule, place: string): string[] {
  const unstorable = ['a\u0000b', '\u0000'];
  // A path without its id is another path.
  const tooShort = place.startsWith('params.') ? [] : [''];
  return [...tooShort, 'x'.repeat(129), ...unstorable, ...(rule.names === 'new' ? ['a b', '../x', 'ü'] : [])];
}

type Answered = { status: number; text: string; headers: Headers };

async function send(world: World, spec: EndpointSpec, actor: Actor, request: SampleRequest): Promise<Answered> {
  const { body, contentType } = bodyOf(request);
  const response = await fetch(`${world.app.url}${addressOf(spec, request)}`, {
    method: spec.method,
    redirect: 'manual',
    headers: {
      ...actor.credentials,
      ...request.headers,
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    ...(body === undefined ? {} : { body }),
  });
  // Held open: its events are asserted in tests of their own.
  const isHeld = spec.response === 'events' && response.ok;
  if (isHeld) await response.body?.cancel();
  return { status: response.status, text: isHeld ? '' : await response.text(), headers: response.headers };
}

function assertError(answer: Answered, code: ErrorCode | undefined, message: string): void {
  assert.ok(code !== undefined, message);
  assert.equal(answer.status, errorStatus[code], `${message}: ${answer.text}`);
  const { error, type, request_id: id }: Json = JSON.parse(answer.text);
  // The gateway has the errors of other APIs: Anthropic's with a type, OpenAI's without the id of the request.
  if (type === 'error') assert.equal(error.type, 'authentication_error', message);
  else assert.equal(error.code, code, message);
  const requestId = answer.headers.get('x-request-id');
  if (!Object.hasOwn(error, 'param')) assert.equal(error.requestId ?? id, requestId, message);
  assert.equal(answer.headers.get('cache-control'), 'no-store', message);
}

/** Body and header names without the request id. */
function comparable({ status, text, headers }: Answered) {
  const id = headers.get('x-request-id') ?? '';
  return { status, text: text.replace(id, ''), headers: [...headers.keys()] };
}

/** The request with another id at one place; places that the sample leaves out are added. */
function withId(request: SampleRequest, place: string, id: string): SampleRequest {
  const copy: Json = structuredClone({ params: {}, query: {}, ...request });
  const names = place.split('.');
  let holder = copy;
  for (const [index, name] of names.entries()) {
    const key = name === '*' ? 0 : name;
    if (index === names.length - 1) holder[key] = id;
    else holder = holder[key] ??= names[index + 1] === '*' ? [] : {};
  }
  return copy;
}
