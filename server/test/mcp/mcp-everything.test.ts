import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { after, before, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { startTestApp, type TestApp } from '../app.ts';
import { createChat } from '../chat/chat-harness.ts';
import { startEverything } from '../everything.ts';

/** The protocol's own reference server, over both transports, as a process of its own. */

let app: TestApp;
const children: ChildProcess[] = [];
before(async () => {
  app = await startTestApp();
});
after(async () => {
  await app.stop();
  for (const child of children) child.kill('SIGKILL');
});

const image = /^data:image\/png;base64,[A-Za-z0-9+/]+=*$/;

for (const [mode, transport] of [
  ['streamableHttp', 'http'],
  ['sse', 'sse'],
] as const) {
  test(`the reference server over ${transport}: lists tools, returns results of every kind and errors, and survives a lost process`, async () => {
    const { url, child } = await startEverything(mode);
    children.push(child);
    const user = await app.signIn();
    const made = await user.call('POST /api/mcp', { name: 'Everything', url, transport });
    const { server } = made.body;
    assert.equal(server.lastError, null);
    assert.ok(server.tools.length >= 10, `${server.tools.length} tools`);
    const tested = await user.call('POST /api/mcp/test', { id: server.id });
    assert.equal(tested.body.drift.changed, false);
    assert.equal(tested.body.server.fingerprint, server.fingerprint, 'the same on every listing');
    const trusted = await user.call('POST /api/mcp/trust', { id: server.id, fingerprint: server.fingerprint });
    assert.equal(trusted.body.server.trustState, 'trusted');

    const { findMcpTools } = await import('../../src/mcp/turn-tools.ts');
    const notices: unknown[] = [];
    const request = { ownerId: user.id, chatId: await createChat(user), serverIds: null };
    const tools = await findMcpTools(app.service.deps, request, (notice) => notices.push(notice));
    assert.deepEqual(notices, []);
    assert.equal(tools.length, server.tools.length);
    const { signal } = new AbortController();
    const call = (name: string, input: Record<string, unknown>) => {
      const tool = tools.find((candidate) => candidate.name === `mcp__Everything__${name}`);
      assert.ok(tool, name);
      return tool.call(input, signal);
    };
    assert.deepEqual(await call('echo', { message: 'hello' }), { output: 'Echo: hello', files: [] });
    const picture = await call('get-tiny-image', {});
    assert.ok('files' in picture && image.test(picture.files[0]?.url ?? ''), JSON.stringify(picture).slice(0, 300));
    const structured = await call('get-structured-content', { location: 'New York' });
    assert.ok('output' in structured && typeof structured.output === 'object');
    const progress: string[] = [];
    const slow = tools.find(({ name }) => name.endsWith('trigger-long-running-operation'));
    await slow?.call({ duration: 2, steps: 2 }, signal, { report: (line) => progress.push(line) });
    assert.ok(progress.length > 0 && progress.every((line) => /^[12]\/2/.test(line)), progress.join());
    const wrong = await call('get-sum', { a: 'x' });
    assert.ok('errorText' in wrong && wrong.errorText.length > 10);
    const links = await call('get-resource-links', { count: 2 });
    assert.ok('output' in links && /\[Link /.test(String(links.output)));

    children.at(-1)?.kill('SIGKILL');
    await until(async () => children.at(-1)?.signalCode !== null);
    await assert.rejects(async () => call('echo', { message: 'again' }), /could not be used/);
    const gone = await user.call('POST /api/mcp/test', { id: server.id });
    assert.deepEqual([gone.status, gone.body.error.code], [502, 'mcp_unreachable']);
    assert.equal(gone.body.error.details.reason, 'refused');
  });
}
