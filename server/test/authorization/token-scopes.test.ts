import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { adminScopes, grantsScope, type TokenScope, tokenScopes } from '@homeport/contracts/accounts/token-scopes';
import type { EndpointSpec } from '@homeport/contracts/endpoint';
import { type EndpointName, endpoints } from '@homeport/contracts/endpoints';
import { createToken, tokenCaller } from '../accounts/tokens/token-calls.ts';
import type { Json } from '../app.ts';
import { addressOf, bodyOf } from './authorization-request.ts';
import type { SampleRequest } from './authorization-sample.ts';
import { samples } from './authorization-samples.ts';
import { beingBuilt } from './authorization-samples-workspace.ts';
import { type Actor, makeWorld, type World } from './authorization-world.ts';

/**
 * Every endpoint of the table × every scope: a token opens what its scope names and nothing else. An endpoint that
 * declares no scope is closed to a token with all of them.
 */

const table: [EndpointName, EndpointSpec][] = Object.keys(endpoints)
  .filter((name): name is EndpointName => Object.hasOwn(endpoints, name))
  .filter((name) => !beingBuilt.includes(name))
  .map((name): [EndpointName, EndpointSpec] => [name, endpoints[name]])
  .filter(([, { access }]) => access !== 'public');

/** Things that no token may do (contract.md section 12), by the address. */
const neverByToken =
  /^\/api\/(auth|setup|me$|me\/(tokens|sessions|identities|administrators|export|personalization)|admin\/(tokens|oidc|provision|web-search$)|skills|internal|invitations$)|\/(trust|connect|approvals|answers|rules|members)$|^\/api\/(admin\/)?mcp(\/|$)/;

let world: World;
let administrator: Actor;
let owner: Actor;
const secrets = new Map<string, string>();
before(async () => {
  world = await makeWorld('community');
  administrator = await world.makeActor('administrator');
  owner = await world.makeActor('plain user');
  for (const actor of [administrator, owner]) {
    for (const scope of tokenScopes) {
      if (actor === owner && adminScopes.includes(scope)) continue;
      secrets.set(`${actor.kind} ${scope}`, (await createToken(signedIn(actor), [scope])).secret);
    }
  }
  secrets.set('everything', (await createToken(signedIn(administrator), tokenScopes)).secret);
});
after(() => world.stop());

test('an endpoint is open to the tokens that its scope admits, and to no other', async () => {
  let tried = 0;
  const violations: string[] = [];
  // The first use of a token is recorded, further ones are not.
  for (const secret of secrets.values()) await tokenCaller(world.app, secret).call('GET /api/me');
  const digest = await world.digest();
  for (const [name, spec] of table) {
    for (const [who, secret] of secrets) {
      const scopes = who === 'everything' ? tokenScopes : tokenScopes.filter((scope) => who.endsWith(` ${scope}`));
      if (isGranted(spec, scopes)) continue;
      const actor = who.startsWith('plain') ? owner : administrator;
      const { status, code } = await send(spec, secret, samples[name].request(actor));
      const expected = spec.access === 'workspace' ? '401 unauthorized' : '403 insufficient_scope';
      if (`${status} ${code}` !== expected) violations.push(`${name} ${who}: ${status} ${code}`);
      tried += 1;
    }
  }
  assert.deepEqual(violations, []);
  assert.ok(tried > 2_000, `${tried} calls`);
  assert.equal(await world.digest(), digest, 'a refused call changed something');
});

test('a token with the scope of an endpoint gets as far as a session', async () => {
  let tried = 0;
  const scoped = table.filter(([, { scope }]) => scope !== undefined);
  for (const [name, spec] of scoped.toSorted(
    ([, a], [, b]) => Number(a.method !== 'GET') - Number(b.method !== 'GET'),
  )) {
    for (const kind of ['plain user', 'administrator'] as const) {
      if (spec.access.startsWith('admin') && kind === 'plain user') continue;
      const scopes = tokenScopes.filter((scope) => isGranted(spec, [scope]));
      for (const scope of spec.method === 'GET' ? scopes : scopes.slice(0, 1)) {
        const requests = [samples[name].request];
        const actor = await world.makeActor(kind, { requests });
        const { secret } = await createToken(signedIn(actor), [scope]);
        const request = without(samples[name].request(actor), spec.closedToTokens ?? []);
        const { status, text } = await send(spec, secret, request);
        const where = `${name} by ${kind} with ${scope}: ${text}`;
        // The gateway's answers have tests of their own; its provider here has no embeddings.
        if (spec.access === 'token') assert.ok(status !== 401 && status !== 403, where);
        else assert.equal(status, samples[name].others?.[kind] ?? samples[name].own, where);
        tried += 1;
      }
    }
  }
  assert.ok(tried > 80, `${tried} calls`);
});

test('no endpoint that makes tokens, changes sign-in, trusts or answers approvals has a scope', () => {
  const open = table.filter(
    ([, { path, scope, method }]) => scope !== undefined && neverByToken.test(path) && method !== 'GET',
  );
  assert.deepEqual(
    open.map(([name]) => name),
    [],
  );
  for (const [, { scope, method, access }] of table) {
    if (scope === undefined || scope === 'models') continue;
    assert.equal(scope.endsWith(':read'), method === 'GET', `${scope} on ${method}`);
    assert.equal(scope.startsWith('admin:'), access.startsWith('admin'), `${scope} on ${access}`);
  }
});

test('members that change who signs in or what runs without a question need a session', async () => {
  const closed = table.flatMap(([name, spec]) => (spec.closedToTokens ?? []).map((member) => ({ name, spec, member })));
  assert.ok(closed.length >= 9);
  const values: Record<string, unknown> = {
    role: 'admin',
    email: 'mallory@example.org',
    password: 'another horse 3',
    mustChangePassword: true,
    toolRules: { preset: 'auto', rules: [] },
  };
  const { secret } = await createToken(signedIn(administrator), tokenScopes);
  for (const { name, spec, member } of closed) {
    const request = without(samples[name].request(administrator), spec.closedToTokens ?? []);
    const body = { ...Object(request.body), [member]: values[member] };
    const { status, code, text } = await send(spec, secret, { ...request, body });
    assert.equal(`${status} ${code}`, '403 insufficient_scope', `${name} ${member}: ${text}`);
  }
});

function isGranted({ scope, access }: EndpointSpec, scopes: readonly TokenScope[]): boolean {
  return access !== 'workspace' && scope !== undefined && grantsScope(scopes, scope);
}

function without(request: SampleRequest, members: readonly string[]): SampleRequest {
  if (members.length === 0) return request;
  const entries = Object.entries(Object(request.body)).filter(([name]) => !members.includes(name));
  return { ...request, body: Object.fromEntries(entries) };
}

function signedIn({ id, email, cookie }: Actor) {
  const call: Parameters<typeof createToken>[0]['call'] = async (route, body) => {
    const [method = 'GET', path = ''] = route.split(' ', 2);
    const response = await fetch(world.app.url + path, {
      method,
      headers: { cookie: cookie ?? '', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  };
  return { id, email, cookie, call, fetch: (path: string, init?: RequestInit) => fetch(world.app.url + path, init) };
}

async function send(
  spec: EndpointSpec,
  secret: string,
  request: SampleRequest,
): Promise<{ status: number; code: string | undefined; text: string }> {
  const { body, contentType } = bodyOf(request);
  const response = await tokenCaller(world.app, secret).fetch(addressOf(spec, request), {
    method: spec.method,
    headers: { ...request.headers, ...(contentType === undefined ? {} : { 'content-type': contentType }) },
    ...(body === undefined ? {} : { body }),
  });
  if (spec.response === 'events' && response.ok) {
    await response.body?.cancel();
    return { status: response.status, code: undefined, text: '' };
  }
  const text = await response.text();
  return { status: response.status, code: response.ok ? undefined : codeOf(text), text };
}

/** In Anthropic's shape, the type says it. */
function codeOf(text: string): string | undefined {
  const { error }: Json = JSON.parse(text);
  return error?.type === 'permission_error' ? 'insufficient_scope' : error?.code;
}
