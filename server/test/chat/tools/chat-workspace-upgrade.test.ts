import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { commandText, isCommandResult } from '@homeport/contracts/workspace/workspace-tools';
import { until } from '../../../../contracts/test/until.ts';
import { startTestApp, type TestApp } from '../../app.ts';
import { bash, callSteps, isCall } from '../../assistants/agent-makers.ts';
import { ProcessRuntime } from '../../fakes/process-runtime.ts';
import { type FakeProvider, startFakeProvider } from '../../fakes/provider/provider.ts';
import { chunk, say } from '../../fakes/provider/provider-scripts.ts';
import { workspacesOf } from '../../workspaces/workspace-makers.ts';
import { addModels, answer, createChat, partsOf, submit } from '../chat-harness.ts';

/** The daemon of the first generation is from before daemons reported their version. */
class UpgradedRuntime extends ProcessRuntime {
  processes = 1;
  isUpgraded = false;
  readonly asked: string[] = [];
  readonly #path = join(tmpdir(), `hp-old-${process.pid}.sock`);
  readonly #server: Server = createServer((request, response) => {
    this.asked.push(`${request.method} ${request.url}`);
    if (request.url === '/v1/health') {
      return response.end(JSON.stringify({ ok: true, active: { processes: this.processes } }));
    }
    response.writeHead(404).end(JSON.stringify({ error: { code: 'not_found', message: 'No such endpoint' } }));
  });

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(this.#path, resolve));
    return this;
  }

  override async dial(id: string): Promise<{ socketPath: string }> {
    const { generation } = await this.status(id);
    return generation === 1 && this.starts === 1 && this.isUpgraded ? { socketPath: this.#path } : super.dial(id);
  }

  override async destroy(): Promise<void> {
    this.#server.close();
    await super.destroy();
  }
}

let runtime: UpgradedRuntime;
let provider: FakeProvider;
let app: TestApp;
before(async () => {
  provider = await startFakeProvider();
  runtime = await new UpgradedRuntime().listen();
  app = await startTestApp({ workspaceRuntime: runtime });
});
after(async () => {
  await app.stop();
  await runtime.destroy();
  await provider.close();
});

test('a turn that needs a workspace of the previous release waits for its replacement and then runs its tools', async () => {
  const user = await app.signIn();
  const before = await startTestApp({ workspaceRuntime: runtime, database: app.database });
  await workspacesOf(before).start(user.id);
  await before.stop();
  runtime.isUpgraded = true;

  let step = 0;
  provider.script('works', () =>
    step++ === 0
      ? { steps: [...callSteps([bash('echo made after the upgrade')]), chunk({}, 'tool_calls')] }
      : { steps: [...say('done'), chunk({}, 'stop')] },
  );
  await addModels(user, provider, ['works']);
  const chatId = await createChat(user);
  const answering = answer(user, chatId, await submit(user, chatId, 'go'));
  await until('the drain', () => runtime.asked.includes('POST /v1/drain'));
  assert.equal(runtime.starts, 1, 'a command is running in it');
  runtime.processes = 0;
  const [call] = partsOf((await answering).frames).filter(isCall);
  assert.ok(isCommandResult(call?.output), String(call?.errorText));
  assert.match(commandText(call.output), /^made after the upgrade\n/);
  assert.equal(runtime.starts, 2);
  assert.ok(!runtime.asked.some((route) => route.includes('/v1/exec')));
});
