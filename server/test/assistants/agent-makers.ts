import { after, before } from 'node:test';
import type { DynamicToolPart, MessagePart } from '@homeport/contracts/chat/frames';
import { type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { addModels, createChat, nextId } from '../chat/chat-harness.ts';
import { ProcessRuntime } from '../fakes/process-runtime.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { chunk, type FakeStep, say } from '../fakes/provider/provider-scripts.ts';

/** Helpers of tests in which a model works in a workspace. */

export type Call = { name: string; input: Record<string, unknown> };
export type AgentChat = { user: SignedIn; chatId: string; model: string };
type Running = { app: TestApp; provider: FakeProvider; runtime: ProcessRuntime };

export const bash = (command: string, more: object = {}): Call => ({ name: 'bash', input: { command, ...more } });
export const isCall = (part: MessagePart): part is DynamicToolPart => part.type === 'dynamic-tool';

/** The steps of a provider in which a model makes these calls at once. */
export function callSteps(calls: readonly Call[], idOf: (index: number) => string = () => nextId('call')): FakeStep[] {
  const toolCalls = calls.map(({ name, input }, index) => ({
    index,
    id: idOf(index),
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  return [chunk({ tool_calls: toolCalls })];
}

/** An app whose workspaces are processes, and a provider, for all tests of the file that calls this. */
export function agentApp() {
  let started: Running | undefined;
  before(async () => {
    const provider = await startFakeProvider();
    const runtime = new ProcessRuntime();
    started = { provider, runtime, app: await startTestApp({ workspaceRuntime: runtime }) };
  });
  after(async () => {
    await started?.app.stop();
    await started?.runtime.destroy();
    await started?.provider.close();
  });
  const running = (): Running => {
    if (started === undefined) throw new Error('The app has not been started');
    return started;
  };
  return {
    get isStarted(): boolean {
      return started !== undefined;
    },
    get app() {
      return running().app;
    },
    get provider() {
      return running().provider;
    },
    /** The home folder of a user's workspace. */
    homeOf: (user: SignedIn): Promise<string> => running().runtime.homeOf(user.id),
    /** A conversation with a model of its own, of a new user or of this one. */
    async startChat(user?: SignedIn): Promise<AgentChat> {
      const { app, provider } = running();
      const owner = user ?? (await app.signIn());
      const model = nextId('model');
      const [modelId] = await addModels(owner, provider, [model]);
      const chatId = await createChat(owner);
      await owner.call('PATCH /api/chats', { id: chatId, modelPinned: true, modelId });
      return { user: owner, chatId, model };
    },
    /** Makes the model call these tools one after the other, and then write “done”. */
    script(model: string, ...steps: (readonly Call[])[]): void {
      let count = 0;
      running().provider.script(model, () => {
        const step = steps[count++];
        if (step === undefined) return { steps: [...say('done'), chunk({}, 'stop')] };
        return { steps: [...callSteps(step), chunk({}, 'tool_calls')] };
      });
    },
  };
}
