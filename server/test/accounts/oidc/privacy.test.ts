import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { EndpointSpec } from '@homeport/contracts/endpoint';
import { type EndpointName, endpoints } from '@homeport/contracts/endpoints';
import type { Json } from '../../app.ts';
import { samples } from '../../authorization/authorization-samples.ts';
import { type Actor, makeWorld, type RecordKind, type World } from '../../authorization/authorization-world.ts';

/**
 * No endpoint lets an administrator read a user's messages: every row of the endpoint table is called as an
 * administrator, with every id of the user in every place, and no answer contains a word of theirs.
 */

const words = {
  message: 'pelican-question',
  title: 'pelican-title',
  answer: 'pelican-answer',
  queued: 'pelican-later',
  assistant: 'pelican-assistant',
  prompt: 'pelican-prompt',
};
const names = Object.keys(endpoints).filter((name): name is EndpointName => Object.hasOwn(endpoints, name));
const specOf = (name: EndpointName): EndpointSpec => endpoints[name];

for (const edition of ['community', 'managed'] as const) {
  describe(`${edition} edition`, () => {
    let world: World;
    let person: Actor;
    // An actor that only reads can read again.
    let reader: Actor;
    before(async () => {
      world = await makeWorld(edition);
      person = await world.makeActor('plain user');
      reader = await world.makeActor('administrator');
      const { pool } = world.app.database.database;
      const { chat, message, answer, input } = person.records;
      const parts = (text: string) => JSON.stringify([{ type: 'text', text }]);
      await pool.query('update chats set title = $2 where id = $1', [chat, words.title]);
      await pool.query('update messages set parts = $2 where id = $1', [message, parts(words.message)]);
      await pool.query('update messages set parts = $2 where id = $1', [answer, parts(words.answer)]);
      await pool.query('update inputs set parts = $2 where id = $1', [input, parts(words.queued)]);
      const { assistant, prompt } = person.records;
      const instructions = 'update assistant_versions set instructions = $2 where assistant_id = $1';
      await pool.query(instructions, [assistant, words.assistant]);
      await pool.query('update prompts set text = $2 where id = $1', [prompt, words.prompt]);
    });
    after(() => world.stop());

    test('the user reads the planted words', async () => {
      const detail = await answerTo(world, person, 'GET', '/api/chats', { query: { id: person.records.chat } });
      const assistant = await answerTo(world, person, 'GET', '/api/assistants', {});
      const prompts = await answerTo(world, person, 'GET', '/api/prompts', {});
      const seen = detail.text + assistant.text + prompts.text;
      for (const word of Object.values(words)) assert.match(seen, new RegExp(word));
    });

    for (const name of names) {
      const spec = specOf(name);
      if (spec.edition !== undefined && spec.edition !== edition) continue;
      test(`${spec.method} ${spec.path} shows an administrator none of them`, async () => {
        const isRead = spec.method === 'GET';
        if (!isRead) await world.clearCatalogues();
        const needed = { requests: [samples[name].request] };
        const administrator = isRead ? reader : await world.makeActor('administrator', needed);
        const places = Object.entries(samples[name].ids);
        const own = samples[name].request(administrator);
        const requests: Sent[] = [own, await asPerson(name, person), ...lookingFor(spec, own)];
        // The editions differ in the owner of the catalogue: one of them shows that an id of another kind opens
        // nothing.
        const { chat, message, answer, person: other } = person.records;
        const ids = edition === 'community' ? Object.values(person.records) : [chat, message, answer, other];
        for (const [place, rule] of places) {
          if (rule.names === 'text') continue;
          // Deleting the account is the purpose of this row; nothing of it would be left to find.
          const accounts = name === 'deleteAdminUser' ? [] : [person.id];
          const named = rule.names in person.records ? [person.records[rule.names as RecordKind]] : [];
          for (const id of [...named, ...ids, ...accounts]) requests.push(withId(own, place, id));
        }
        // Many are the same: most rows take no parameters.
        for (const request of new Set(requests.map((request) => JSON.stringify(request)))) {
          const { text } = await answerTo(world, administrator, spec.method, spec.path, JSON.parse(request));
          assert.doesNotMatch(text, /pelican/, request);
        }
        await assertStillThere(world, person);
      });
    }
  });
}

type Sent = { params?: Record<string, string>; query?: Record<string, string>; body?: unknown };

/** The user's own request, except for ones that would sign in as them. */
async function asPerson(name: EndpointName, person: Actor): Promise<Sent> {
  return name === 'postSignIn' ? {} : samples[name].request(person);
}

/** Searches and filters that a list can take, even if its row doesn't name them. */
function lookingFor(spec: EndpointSpec, own: Sent): Sent[] {
  if (spec.method !== 'GET') return [];
  const queries = ['pelican', words.title].flatMap((q): Record<string, string>[] => [{ q }, { q, archived: '1' }]);
  const tried = [...queries, {}, { archived: '1' }, { all: '1' }];
  return tried.flatMap((query) => [
    { ...own, query },
    { ...own, query: { ...own.query, ...query } },
  ]);
}

function withId(request: Sent, place: string, id: string): Sent {
  const copy: Json = structuredClone({ params: {}, query: {}, ...request });
  let holder: Json = copy;
  const path = place.split('.').map((name) => (name === '*' ? '0' : name));
  const last = path.pop() ?? place;
  for (const [index, name] of path.entries()) {
    holder[name] ??= (path[index + 1] ?? last) === '0' ? [] : {};
    holder = holder[name];
  }
  holder[last] = id;
  return copy;
}

async function answerTo(world: World, actor: Actor, method: string, path: string, request: Sent) {
  const place = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(request.params?.[name] ?? 'missing'));
  const query = request.query === undefined ? '' : `?${new URLSearchParams(request.query)}`;
  const response = await fetch(`${world.app.url}${place}${query}`, {
    method,
    redirect: 'manual',
    headers: {
      cookie: actor.cookie ?? '',
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
  });
  const isHeld = response.headers.get('content-type')?.startsWith('text/event-stream') && path.endsWith('/activity');
  if (isHeld) await response.body?.cancel();
  return { status: response.status, text: isHeld ? '' : await response.text() };
}

/** So that later rows still have something to find. */
async function assertStillThere(world: World, person: Actor): Promise<void> {
  const { rowCount } = await world.app.database.database.pool.query(
    `select 1 from chats where id = $1 and owner_id = $2 and title = $3`,
    [person.records.chat, person.id, words.title],
  );
  assert.equal(rowCount, 1);
}
