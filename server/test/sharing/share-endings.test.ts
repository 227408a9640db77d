import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setUserEnabled } from '../../src/accounts/users.ts';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { allowSharing, makeFullChat, makeShare, textOnly } from './share-makers.ts';

/** Every way in which a share ends or closes counts with the next request, at each of two replicas. */

let app: TestApp;
let replica: TestApp;
let admin: SignedIn;
before(async () => {
  app = await startTestApp();
  const { artifactStore } = app.service.deps.config;
  replica = await startTestApp({ database: app.database, config: { artifactStore } });
  admin = await app.signIn({ role: 'admin' });
  await allowSharing(app, 'public');
});
after(async () => {
  await replica.stop();
  await app.stop();
});

type Shared = Awaited<ReturnType<typeof makeFullChat>> & {
  owner: SignedIn;
  id: string;
  token: string;
  reader: SignedIn;
};
const pool = () => app.database.database.pool;

/** Statuses at both replicas without a session: of the content, and of the file in four kinds of requests. */
async function statuses(token: string, fileUrl: string): Promise<number[]> {
  const found: number[] = [];
  for (const { url } of [app, replica]) {
    const body = JSON.stringify({ token });
    const json = { 'content-type': 'application/json', origin: url };
    const opened = await fetch(`${url}/api/shares/open`, { method: 'POST', headers: json, body });
    const requests: RequestInit[] = [
      {},
      { method: 'HEAD' },
      { headers: { range: 'bytes=0-1' } },
      { headers: { 'if-none-match': '*' } },
    ];
    const files = await Promise.all(requests.map((init) => fetch(url + fileUrl, init)));
    for (const answer of [opened, ...files]) {
      found.push(answer.status);
      await answer.arrayBuffer();
    }
  }
  return found;
}

const open = [200, 200, 200, 206, 304];
const update = (sql: string, values: unknown[]) => pool().query(sql, values);
const endings: [name: string, end: (share: Shared) => Promise<unknown>, status: number][] = [
  ['its owner ends it', ({ owner, id }) => owner.call('DELETE /api/shares', undefined, { query: { id } }), 404],
  ['its owner ends all', ({ owner }) => owner.call('DELETE /api/shares', undefined, { query: { all: '1' } }), 404],
  ['an administrator ends it', ({ id }) => admin.call('DELETE /api/admin/shares', undefined, { query: { id } }), 404],
  ['an administrator ends all', () => admin.call('DELETE /api/admin/shares', undefined, { query: { all: '1' } }), 404],
  ['it expires', ({ id }) => update('update shares set expires_at = now() where id = $1', [id]), 404],
  ['its owner is disabled', ({ owner }) => setUserEnabled({ db: app.database.database }, owner.id, false), 404],
  [
    'its owner is deleted',
    ({ owner }) => admin.call('DELETE /api/admin/users', undefined, { query: { id: owner.id, data: 'delete' } }),
    404,
  ],
  [
    'its conversation is deleted',
    ({ owner, chatId }) => owner.call('DELETE /api/chats', undefined, { query: { id: chatId } }),
    404,
  ],
  ['sharing is switched off', () => admin.call('POST /api/admin/config', { sharing: 'off' }), 404],
  ['links are for accounts only', () => admin.call('POST /api/admin/config', { sharing: 'inside' }), 401],
  [
    'its audience becomes accounts',
    ({ owner, id }) => owner.call('PATCH /api/shares', { id, audience: 'signed_in' }),
    401,
  ],
  [
    'its audience becomes named people',
    ({ owner, id, reader }) => owner.call('PATCH /api/shares', { id, audience: 'people', userIds: [reader.id] }),
    404,
  ],
  ['it gets a password', ({ owner, id }) => owner.call('PATCH /api/shares', { id, password: 'open sesame 1' }), 403],
];

for (const [name, end, status] of endings) {
  test(`a link closes everywhere with the next request when ${name}`, async () => {
    const owner = await app.signIn();
    const chat = await makeFullChat(app, owner);
    const body = { chatId: chat.chatId, leafMessageId: chat.answer, audience: 'link' };
    const { share, token } = await makeShare(owner, { ...body, include: { ...textOnly, files: true } });
    const fileUrl = `/s/${token}/files/0`;
    assert.deepEqual(await statuses(token, fileUrl), [...open, ...open]);
    await end({ ...chat, owner, id: share.id, token, reader: admin });
    assert.deepEqual(await statuses(token, fileUrl), Array(10).fill(status));
    await allowSharing(app, 'public');
  });
}

test('a person who is no longer named loses the share and the signed addresses of its files everywhere', async () => {
  const [owner, first, second] = await Promise.all([app.signIn(), app.signIn(), app.signIn()]);
  const chat = await makeFullChat(app, owner);
  const body = { chatId: chat.chatId, leafMessageId: chat.answer, audience: 'people', userIds: [first.id, second.id] };
  const { share, token } = await makeShare(owner, { ...body, include: { ...textOnly, files: true } });
  const opened = await first.call('POST /api/shares/open', { token });
  const { url } = opened.body.files[0];
  assert.equal((await fetch(replica.url + url)).status, 200);
  await owner.call('PATCH /api/shares', { id: share.id, userIds: [second.id] });
  assert.equal((await first.call('POST /api/shares/open', { token })).status, 404);
  for (const base of [app.url, replica.url]) assert.equal((await fetch(base + url)).status, 404);
  assert.equal((await second.call('POST /api/shares/open', { token })).status, 200);
});

test('a deleted file leaves the share everywhere, and its messages stay', async () => {
  const owner = await app.signIn();
  const chat = await makeFullChat(app, owner);
  const body = { chatId: chat.chatId, leafMessageId: chat.answer, audience: 'link' };
  const { token } = await makeShare(owner, { ...body, include: { ...textOnly, files: true } });
  const query = { chatId: chat.chatId, id: chat.fileId };
  await owner.call('DELETE /api/artifacts', undefined, { query });
  const left = [200, 404, 404, 404, 404];
  assert.deepEqual(await statuses(token, `/s/${token}/files/0`), [...left, ...left]);
});
