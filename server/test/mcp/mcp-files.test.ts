import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ProviderKind, providerKinds } from '@homeport/contracts/catalogue/provider-kinds';
import { startTestApp, type TestApp } from '../app.ts';
import { addModels, answer, createChat, partsOf, submit } from '../chat/chat-harness.ts';
import { makeDocx, paragraph } from '../documents/document-makers.ts';
import { type FakeMcp, startFakeMcp } from '../fakes/mcp-server.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { chunk, finish, say } from '../fakes/provider/provider-scripts.ts';

/** Pictures and files in the results of MCP tools, as models get them. */

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

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

type Made = { kind?: ProviderKind; images?: boolean | undefined };

/** A conversation with a server whose only tool returns `content`. */
async function scene(work: (scene: Scene) => Promise<void>, { kind, images = true }: Made = {}): Promise<void> {
  const fake = await startFakeMcp();
  try {
    const user = await app.signIn();
    const [model = ''] = await addModels(user, provider, ['looker'], kind);
    if (images !== undefined) {
      const abilities = { images, documents: false, tools: true, temperature: true, reasoning: [] };
      const patched = await user.call('PATCH /api/models', { id: model, abilities });
      assert.equal(patched.status, 200, patched.text);
    }
    const { body } = await user.call('POST /api/mcp', { name: 'Fake', url: fake.url });
    const { id, fingerprint } = body.server;
    assert.equal((await user.call('POST /api/mcp/trust', { id, fingerprint })).status, 200);
    const chatId = await createChat(user);
    const call = async (...calls: [name: string, input: object][]) => {
      const scripts = calls.map(([name, input], at) => () => {
        const tool = { index: 0, id: `call-${at}`, function: { name, arguments: JSON.stringify(input) } };
        return { steps: [chunk({ tool_calls: [tool] }), chunk({}, 'tool_calls'), { event: '[DONE]' }] };
      });
      provider.enqueue('looker', ...scripts, (asked) => ({ steps: [...say('Seen.'), ...finish(asked, 2)] }));
      const streamed = await answer(user, chatId, await submit(user, chatId, 'Look'));
      return { parts: partsOf(streamed.frames), text: streamed.text, sent: sent() };
    };
    await work({ user, fake, chatId, call });
  } finally {
    await fake.close();
  }
}

type Scene = {
  user: Awaited<ReturnType<TestApp['signIn']>>;
  fake: FakeMcp;
  chatId: string;
  call(...calls: [name: string, input: object][]): Promise<{
    parts: ReturnType<typeof partsOf>;
    text: string;
    sent: string;
  }>;
};

/** The last request of an answer, as the provider received it. */
const sent = (): string => JSON.stringify(provider.requests.findLast(({ body }) => body.model === 'looker')?.raw) ?? '';
const echo: [string, object] = ['mcp__Fake__echo', { text: 'x' }];
const picture = { type: 'image', data: png.replace(/.{20}/g, '$&\n'), mimeType: 'image/jpeg' };

for (const kind of providerKinds) {
  test(`${kind}: a model that sees gets the picture of a tool, in this turn and in the next`, () =>
    scene(
      async ({ fake, call }) => {
        fake.answer = () => ({ content: [{ type: 'text', text: 'A chart' }, picture] });
        const first = await call(echo);
        assert.equal(first.text, 'Seen.');
        assert.equal(first.sent.split(png).length, 2, first.sent);
        assert.match(first.sent, /A chart/);
        const second = await call();
        assert.equal(second.text, 'Seen.');
        assert.equal(second.sent.split(png).length, 2, second.sent);
      },
      { kind },
    ));
}

test('a model that does not see gets a note in place of the picture', () =>
  scene(
    async ({ fake, call }) => {
      fake.answer = () => ({ content: [picture] });
      const { sent, parts } = await call(echo);
      assert.ok(!sent.includes(png) && sent.includes('A picture was left out: this model doesn’t take pictures'), sent);
      assert.equal(parts.filter(({ type }) => type === 'file').length, 1);
      assert.ok(!(await call()).sent.includes(png));
    },
    { images: false },
  ));

test('a picture of several megabytes is stored as a file of the conversation and reaches the model', () =>
  scene(async ({ fake, call, user, chatId }) => {
    const [small, size] = [Buffer.from(png, 'base64'), 3_000_000];
    const [chunk, end] = [Buffer.alloc(size + 12, 7), small.length - 12];
    chunk.writeUInt32BE(size);
    chunk.write('teSt', 4);
    const bytes = Buffer.concat([small.subarray(0, end), chunk, small.subarray(end)]);
    fake.answer = () => ({ content: [{ type: 'image', data: bytes.toString('base64'), mimeType: 'image/png' }] });
    const { parts, sent } = await call(echo);
    const [file] = parts.flatMap((part) => (part.type === 'file' ? [part] : []));
    assert.match(file?.url ?? '', /^artifact:\/\//);
    assert.ok(sent.includes(bytes.toString('base64')));
    const query = new URLSearchParams({ chatId, id: file?.url.slice('artifact://'.length) ?? '' });
    const stored = await user.fetch(`/api/artifacts/download?${query}`);
    assert.equal((await stored.arrayBuffer()).byteLength, bytes.length);
    assert.ok((await call()).sent.includes(bytes.toString('base64')));
    const huge = Buffer.concat([bytes, Buffer.alloc(6_000_000)]).toString('base64');
    fake.answer = () => ({ content: [{ type: 'image', data: huge, mimeType: 'image/png' }] });
    assert.match((await call(echo)).sent, /was left out: it is too large/);
  }));

test('documents that a tool returns reach the model as text', () =>
  scene(
    async ({ fake, call }) => {
      const docx = makeDocx(paragraph('The clause of the swan')).toString('base64');
      const csv = Buffer.from('name,price\nswan,7\n').toString('base64');
      fake.answer = () => ({
        content: [
          { type: 'text', text: 'Two files' },
          { type: 'resource', resource: { uri: 'file:///a/prices.csv', mimeType: 'text/csv', blob: csv } },
          { type: 'resource', resource: { uri: 'file:///a/contract.docx', blob: docx } },
        ],
      });
      const { sent, parts } = await call(echo);
      assert.match(sent, /Two files/);
      assert.match(sent, /\[File prices\.csv\]\\+n[^"]*swan,7/);
      assert.match(sent, /The clause of the swan/);
      assert.equal(parts.filter(({ type }) => type === 'file').length, 2);
    },
    { images: false },
  ));

test('a link in a result can be read with a tool, from the server that named it, and no other address', () =>
  scene(async ({ fake, call }) => {
    const asked: unknown[] = [];
    fake.more = { resources: {} };
    fake.answerMore = (method, params) => {
      asked.push([method, params.uri]);
      return { contents: [{ uri: params.uri, mimeType: 'text/plain', text: 'the report itself' }] };
    };
    fake.answer = () => ({ content: [{ type: 'resource_link', uri: 'fake://report', name: 'Report' }] });
    const read = (uri: string): [string, object] => ['read_resource', { uri }];
    const { sent } = await call(echo, read('fake://report'), read('fake://secret'));
    assert.match(sent, /the report itself/);
    assert.match(sent, /No tool result of this turn links to this address/);
    assert.deepEqual(
      asked.filter((each) => Array.isArray(each) && each[0] === 'resources/read'),
      [['resources/read', 'fake://report']],
    );
    assert.match(sent, /"name":"read_resource"/);
    assert.ok(!(await call()).sent.includes('"name":"read_resource","description"'));
  }));
