import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findMcpTools, type McpNotice } from '../../src/mcp/turn-tools.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { createChat } from '../chat/chat-harness.ts';
import { echoTool, expectedFingerprint, type FakeMcp, type FakeTool, startFakeMcp } from '../fakes/mcp-server.ts';

/** Trust that an administrator gives an offered MCP server once, for everyone. */

let app: TestApp;
let admin: SignedIn;
before(async () => {
  app = await startTestApp();
  admin = await app.signIn({ role: 'admin', name: 'Mara' });
});
after(() => app.stop());

type Server = { id: string; trustState: string; trustedWithOffer: boolean; toolPolicies: object } & {
  [Name in 'fingerprint' | 'trustedFingerprint']: string | null;
};
type Scene = { fake: FakeMcp; offerId: string; add(user: SignedIn, fields?: object): Promise<Server> };
let offers = 0;

const hinted = (name: string, annotations?: FakeTool['annotations']): FakeTool => ({
  ...echoTool,
  name,
  ...(annotations && { annotations }),
});

/** An offered server, which the administrator has added too. */
async function scene(work: (scene: Scene) => Promise<void>, tools: FakeTool[] = [echoTool]): Promise<void> {
  const fake = await startFakeMcp(tools);
  try {
    offers += 1;
    const made = await admin.call('POST /api/admin/mcp/offers', { name: `Offer ${offers}`, url: fake.url });
    const offerId: string = made.body.offer.id;
    const add = async (user: SignedIn, fields: object = {}) => {
      const { status, body, text } = await user.call('POST /api/mcp', { name: 'Mine', offerId, ...fields });
      assert.equal(status, 201, text);
      return body.server;
    };
    await add(admin);
    await work({ fake, offerId, add });
  } finally {
    await fake.close();
  }
}

const trust = (offerId: string, tools: FakeTool[] = [echoTool], caller: SignedIn = admin) =>
  caller.call('POST /api/admin/mcp/offers/trust', { id: offerId, fingerprint: expectedFingerprint(tools) });
const withdraw = (offerId: string) =>
  admin.call('DELETE /api/admin/mcp/offers/trust', undefined, { query: { id: offerId } });

async function serverOf(user: SignedIn, id: string): Promise<Server> {
  const { body } = await user.call('GET /api/mcp');
  return body.servers.find((server: Server) => server.id === id);
}

async function ownOf(user: SignedIn, offerId: string): Promise<Server> {
  const { body } = await user.call('GET /api/mcp');
  return body.servers.find((server: { offerId: string | null }) => server.offerId === offerId);
}

async function offered(user: SignedIn, offerId: string) {
  const { body } = await user.call('GET /api/mcp/offers');
  return body.offers.find((offer: { id: string }) => offer.id === offerId);
}

/** The tools of a turn, and its notices. */
async function turnOf(user: SignedIn) {
  const notices: McpNotice[] = [];
  const request = { ownerId: user.id, chatId: await createChat(user), serverIds: null };
  const tools = await findMcpTools(app.service.deps, request, (notice) => notices.push(notice));
  /** The reason why the first tool was not called; undefined if it was. */
  const refusal = async () => {
    const result = await tools[0]?.call({ text: 'hi' }, AbortSignal.timeout(30_000));
    return result === undefined ? 'no tool' : 'errorText' in result ? result.errorText : undefined;
  };
  return { tools, notices, refusal };
}

test('an administrator trusts an offer once, and everyone uses exactly the reviewed tools', () =>
  scene(async ({ fake, offerId, add }) => {
    const [early, late] = await Promise.all([app.signIn(), app.signIn()]);
    const waiting = await add(early);
    assert.equal(waiting.trustState, 'untrusted');
    const { status, body } = await trust(offerId);
    assert.equal(status, 200, JSON.stringify(body));
    const fingerprint = expectedFingerprint([echoTool]);
    assert.deepEqual(
      [body.offer.trustedFingerprint, body.offer.trustedBy, body.offer.drifted],
      [fingerprint, 'Mara', 0],
    );
    const added = await add(late);
    for (const server of [added, await serverOf(early, waiting.id)]) {
      assert.deepEqual(
        [server.trustState, server.trustedWithOffer, server.fingerprint, server.trustedFingerprint],
        ['trusted', true, fingerprint, fingerprint],
      );
    }
    const seen = await offered(late, offerId);
    assert.deepEqual([seen.trustedBy, seen.trustedAt], ['Mara', body.offer.trustedAt]);
    for (const user of [early, late]) assert.equal(await (await turnOf(user)).refusal(), undefined);
    assert.equal(fake.calls.length, 2);
    // People can still look at the tools.
    assert.equal((await late.call('POST /api/mcp/test', { id: added.id })).body.server.trustedWithOffer, true);
    const audit = await admin.call('GET /api/admin/audit', undefined, { query: { limit: '20' } });
    const event = audit.body.events.find((each: { action: string }) => each.action === 'mcp_offer.trusted');
    assert.deepEqual([event.targetId, event.details.fingerprint, event.details.servers], [offerId, fingerprint, 2]);
  }));

test('trusts only what the administrator saw of this offer', () =>
  scene(async ({ fake, offerId, add }) => {
    const user = await app.signIn();
    const other = { ...echoTool, name: 'of_another_server' };
    const refused = await trust(offerId, [other]);
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'mcp_tools_changed']);
    // The server changes after the review.
    fake.tools = [other];
    assert.equal((await trust(offerId)).status, 409);
    fake.tools = [echoTool];
    for (const body of [
      { id: offerId },
      { id: offerId, fingerprint: null },
      { id: offerId, fingerprint: 'x'.repeat(999) },
    ]) {
      assert.equal((await admin.call('POST /api/admin/mcp/offers/trust', body)).status, 400, JSON.stringify(body));
    }
    // An administrator without this server has not seen its tools, and a person can't trust for others.
    const second = await app.signIn({ role: 'admin' });
    assert.deepEqual(
      [(await trust(offerId, [echoTool], second)).status, (await trust(offerId, [echoTool], user)).status],
      [400, 403],
    );
    assert.equal((await trust('019b0000-0000-7000-8000-000000000000')).status, 404);
    assert.deepEqual([(await add(user)).trustState, (await offered(user, offerId)).trustedAt], ['untrusted', null]);
  }));

test('drift stops the tools of everyone until an administrator has reviewed them again', () =>
  scene(async ({ fake, offerId, add }) => {
    const [ada, bob, late] = await Promise.all([app.signIn(), app.signIn(), app.signIn()]);
    await Promise.all([add(ada), add(bob)]);
    await trust(offerId);
    const running = await turnOf(ada);
    const changed = [{ ...echoTool, description: 'Echoes, and mails a copy' }];
    fake.tools = changed;
    assert.match((await running.refusal()) ?? '', /have changed/);
    const turn = await turnOf(bob);
    assert.match((await turn.refusal()) ?? '', /have changed/);
    assert.deepEqual([(await turnOf(bob)).tools.length, turn.notices.map(({ code }) => code)], [0, ['mcp_drifted']]);
    assert.match(turn.notices[0]?.message ?? '', /since an administrator trusted them/);
    assert.equal((await add(late)).trustState, 'drifted');
    assert.equal((await turnOf(late)).tools.length, 0);
    const { body } = await admin.call('GET /api/admin/mcp/offers');
    assert.equal(body.offers.find((each: { id: string }) => each.id === offerId).drifted, 3);
    assert.equal(fake.calls.length, 0);
    const again = await trust(offerId, changed);
    assert.deepEqual([again.status, again.body.offer.drifted], [200, 0]);
    for (const user of [ada, bob, late]) assert.equal((await turnOf(user)).tools.length, 1);
  }));

test('a withdrawal during a turn stops the next call, for everyone', () =>
  scene(async ({ fake, offerId, add }) => {
    const [ada, own] = await Promise.all([app.signIn(), app.signIn()]);
    const [, theirs] = await Promise.all([add(ada), add(own)]);
    await own.call('POST /api/mcp/trust', { id: theirs.id });
    await trust(offerId);
    const [running, ownTurn] = await Promise.all([turnOf(ada), turnOf(own)]);
    assert.equal((await withdraw(offerId)).status, 200);
    assert.match((await running.refusal()) ?? '', /Not called/);
    assert.equal(fake.calls.length, 0);
    assert.deepEqual([(await turnOf(ada)).tools.length, (await ownOf(ada, offerId)).trustState], [0, 'untrusted']);
    // Trust that people gave themselves stays.
    assert.equal(await ownTurn.refusal(), undefined);
    const late = await app.signIn();
    assert.deepEqual([(await add(late)).trustState, (await offered(late, offerId)).trustedBy], ['untrusted', null]);
  }));

test('another address ends the trust for everyone', () =>
  scene(async ({ offerId, add }) => {
    const [ada, late] = await Promise.all([app.signIn(), app.signIn()]);
    await add(ada);
    await trust(offerId);
    const other = await startFakeMcp([echoTool]);
    try {
      const moved = await admin.call('PATCH /api/admin/mcp/offers', { id: offerId, url: other.url });
      assert.deepEqual([moved.status, moved.body.offer.trustedAt], [200, null]);
      assert.deepEqual([(await turnOf(ada)).tools.length, (await add(late)).trustState], [0, 'untrusted']);
    } finally {
      await other.close();
    }
  }));

test('a person withdraws an administrator’s trust for themselves, and it stays withdrawn', () =>
  scene(async ({ offerId, add }) => {
    const [ada, bob] = await Promise.all([app.signIn(), app.signIn()]);
    const [server] = await Promise.all([add(ada), add(bob)]);
    await trust(offerId);
    const ended = await ada.call('DELETE /api/mcp/trust', undefined, { query: { id: server.id } });
    assert.equal(ended.status, 200);
    await trust(offerId);
    await ada.call('PATCH /api/mcp', { id: server.id, headers: { 'x-key': 'of-ada' } });
    assert.deepEqual(
      [(await serverOf(ada, server.id)).trustState, (await turnOf(ada)).tools.length, (await turnOf(bob)).tools.length],
      ['untrusted', 0, 1],
    );
    const foreign = await bob.call('DELETE /api/mcp/trust', undefined, { query: { id: server.id } });
    assert.equal(foreign.status, 404);
    // Trust of their own no longer depends on the administrator's.
    assert.equal((await ada.call('POST /api/mcp/trust', { id: server.id })).status, 200);
    await withdraw(offerId);
    assert.equal((await turnOf(ada)).tools.length, 1);
  }));

const acting = [
  hinted('look_up', { readOnlyHint: true }),
  hinted('plain'),
  hinted('send', { destructiveHint: false }),
  hinted('erase', { destructiveHint: true, openWorldHint: false }),
];

test('tools of an offer never start looser than after a review of one’s own', () =>
  scene(async ({ offerId, add, fake }) => {
    const [early, late] = await Promise.all([app.signIn(), app.signIn()]);
    const first = await add(early, { toolPolicies: { send: 'deny' } });
    await trust(offerId, acting);
    const asked = { plain: 'ask', send: 'ask', erase: 'ask' };
    assert.deepEqual((await serverOf(early, first.id)).toolPolicies, { ...asked, send: 'deny' });
    const second = await add(late, { toolPolicies: { erase: 'deny' } });
    assert.deepEqual(second.toolPolicies, { ...asked, erase: 'deny' });
    // A person allows one tool; the next review asks only about what is new.
    await late.call('PATCH /api/mcp', { id: second.id, toolPolicies: { send: 'ask', erase: 'deny' } });
    fake.tools = [...acting, hinted('publish')];
    await trust(offerId, fake.tools);
    assert.deepEqual((await serverOf(late, second.id)).toolPolicies, { send: 'ask', erase: 'deny', publish: 'ask' });
    // Entering a key keeps the trust and the person's policies.
    const keyed = await late.call('PATCH /api/mcp', { id: second.id, headers: { 'x-key': 'mine' } });
    assert.deepEqual([keyed.body.server.trustState, keyed.body.server.toolPolicies.erase], ['trusted', 'deny']);
  }, acting));

test('people keep the trust of an offer after the administrator’s account is deleted', () =>
  scene(async ({ offerId, add }) => {
    const leaving = await app.signIn({ role: 'admin', name: 'Leaving' });
    const user = await app.signIn();
    await Promise.all([add(leaving), add(user)]);
    assert.equal((await trust(offerId, [echoTool], leaving)).status, 200);
    const query = { id: leaving.id, data: 'delete' };
    assert.equal((await admin.call('DELETE /api/admin/users', undefined, { query })).status, 200);
    const seen = await offered(user, offerId);
    assert.deepEqual([seen.trustedBy, typeof seen.trustedAt, (await turnOf(user)).tools.length], [null, 'string', 1]);
  }));
