import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../app.ts';
import { createTestDatabase, type TestDatabase } from '../../database.ts';
import { manualDate } from '../../fakes/manual-clock.ts';
import { type OidcWorld, startOidcWorld } from './oidc-browser.ts';

/** The cached state of an identity provider whose discovery document was corrected. */

// It stands still: entries cached for five seconds stay, however slow the machine is.
const clock = manualDate();
let database: TestDatabase;
let world: OidcWorld;
let replica: TestApp;
before(async () => {
  database = await createTestDatabase();
  world = await startOidcWorld({ database, clock });
  replica = await startTestApp({ database, clock });
});
after(async () => {
  await replica.stop();
  await world.stop();
  await database.drop();
});

const begin = async (app: TestApp) =>
  (await app.anonymous.call('POST /api/auth/sign-in/social', { provider: 'corp' })).status;

/** Both replicas have cached an unusable document, which was corrected since. */
async function mended() {
  clock.advance(120_000);
  world.idp.document = { token_endpoint: undefined };
  assert.deepEqual([await begin(world.app), await begin(replica)], [502, 502]);
  world.idp.document = {};
}

test("saving the configuration, even unchanged, makes every replica fetch the provider's document again", async () => {
  await mended();
  await world.configure({ label: 'Corp' });
  assert.deepEqual([await begin(world.app), await begin(replica)], [200, 200]);
});

test("a successful test makes every replica fetch the provider's document again", async () => {
  await mended();
  const admin = await replica.signIn({ role: 'admin' });
  assert.equal((await admin.call('POST /api/admin/oidc-test')).body.ok, true);
  assert.deepEqual([await begin(world.app), await begin(replica)], [200, 200]);
});

test('fetches an unusable document again after five seconds, a good one after a minute', async () => {
  await mended();
  assert.equal(await begin(world.app), 502);
  clock.advance(5_000);
  assert.equal(await begin(world.app), 200);
  const asked = () => world.idp.seen.filter((path) => path.includes('openid-configuration')).length;
  const before = asked();
  clock.advance(50_000);
  assert.equal(await begin(world.app), 200);
  assert.equal(asked(), before);
});
