import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AccountsApp, startAccountsApp } from './accounts-app.ts';

/** People whom a user can ask (contract.md section 3). */

let app: AccountsApp;
before(async () => {
  app = await startAccountsApp();
});
after(() => app.stop());

test('names up to three enabled administrators to everyone with a session, and nothing else about them', async () => {
  const path = '/api/me/administrators';
  const user = await app.addUser();
  const cookie = await app.signIn(user.email);
  const names = async () => (await app.request('GET', path, { cookie })).body;
  assert.deepEqual(await names(), { names: [] });
  const [mara] = [
    await app.addUser({ role: 'admin', name: 'Mara' }),
    await app.addUser({ role: 'admin', name: 'Ada' }),
  ];
  assert.deepEqual(await names(), { names: ['Mara', 'Ada'] });
  for (const name of ['Eve', 'Zoe']) await app.addUser({ role: 'admin', name });
  assert.deepEqual(await names(), { names: ['Mara', 'Ada', 'Eve'] });
  await app.db.kysely.updateTable('users').set({ enabled: false }).where('id', '=', mara.id).execute();
  assert.deepEqual(await names(), { names: ['Ada', 'Eve', 'Zoe'] });
  assert.equal((await app.request('GET', path)).status, 401);
});
