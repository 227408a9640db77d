import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seededRandom } from '../../../../contracts/test/seeded-random.ts';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../../app.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { addModels, answer, chatDetail, submit } from '../chat-harness.ts';

/** "What the model saw" equals the provider's requests, for 200 responses, after everything has changed. */

let app: TestApp;
let provider: FakeProvider;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
});
after(async () => {
  await app.stop();
  await provider.close();
});

const answers = 200;
const chats = 8;

test('200 responses store the system text, the parameters and the messages of the provider’s requests, byte for byte', async (t) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  const pick = (texts: readonly string[]): string | null => texts[Math.floor(random() * (texts.length + 1))] ?? null;
  const [admin, user] = await Promise.all([app.signIn({ role: 'admin' }), app.signIn()]);
  await addModels(user, provider, ['echo']);
  const projectId = (await user.call('POST /api/projects', { name: 'P' })).body.project.id;
  const ids: string[] = [];
  for (let n = 0; n < chats; n++) {
    ids.push((await user.call('POST /api/chats', n % 2 === 0 ? { projectId } : {})).body.chat.id);
  }
  const created = await user.call('POST /api/assistants', { name: 'Editor', instructions: 'Cut.' });
  const assistantId: string = created.body.assistant.id;
  const texts = ['Short.', 'Long: '.repeat(500), '{{user_name}} and {{current_date}} "quoted" \\ 日本語 \n\n# Now', ''];
  const changes: (() => Promise<unknown>)[] = [
    () => call(admin, 'POST /api/admin/config', { instructions: pick(texts) }),
    () => call(user, 'PATCH /api/projects', { id: projectId, instructions: pick(texts) }),
    () => call(user, 'PATCH /api/me/personalization', { instructions: pick(texts), aboutMe: { name: random() < 0.5 } }),
    () => call(user, 'PATCH /api/chats', { id: ids[Math.floor(random() * chats)], instructions: pick(texts) }),
    () => call(user, 'PATCH /api/assistants', { id: assistantId, instructions: pick(texts) }),
    () => call(user, 'PATCH /api/chats', { id: ids[1], assistantId: random() < 0.7 ? assistantId : null }),
    () => call(user, 'PATCH /api/chats', { id: ids[0], parameters: random() < 0.5 ? null : { seed: 1 } }),
  ];
  const made: { chatId: string; sent: Json }[] = [];
  for (let n = 0; n < answers; n++) {
    await changes[Math.floor(random() * changes.length)]?.();
    const chatId = ids[Math.floor(random() * chats)] ?? '';
    const at = provider.requests.length;
    await answer(user, chatId, await submit(user, chatId, `Question ${n}`));
    made.push({ chatId, sent: provider.requests[at]?.body });
  }
  for (const change of changes) await change();
  await call(user, 'PATCH /api/projects', { id: projectId, instructions: null, archived: true });
  const deleted = await user.call('DELETE /api/assistants', undefined, { query: { id: assistantId } });
  assert.equal(deleted.status, 200, deleted.text);

  const branches = new Map<string, Json[]>();
  for (const id of ids) branches.set(id, (await chatDetail(user, id)).messages);
  const next = new Map(ids.map((id) => [id, 1]));
  for (const { chatId, sent } of made) {
    const branch = branches.get(chatId) ?? [];
    const place = next.get(chatId) ?? 1;
    next.set(chatId, place + 2);
    const query = { chatId, messageId: branch[place].id };
    const { status, body, text } = await user.call('GET /api/chats/context', undefined, { query });
    assert.equal(status, 200, text);
    const [system, ...sentMessages] = sent.messages;
    assert.equal(body.system, system.content);
    assert.deepEqual(body.parameters, sent.seed === undefined ? {} : { seed: sent.seed });
    assert.deepEqual(
      body.messages.map((message: Json) => [message.id, message.state]),
      branch.slice(0, place).map(({ id }) => [id, 'sent']),
    );
    assert.deepEqual(
      sentMessages.map(({ content }: Json) => content),
      branch.slice(0, place).map(({ parts }) => parts.map((part: Json) => part.text ?? '').join('')),
    );
  }
});

async function call(user: SignedIn, route: string, body: object): Promise<void> {
  const { status, text } = await user.call(route, body);
  assert.equal(status, 200, text);
}
