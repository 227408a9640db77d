import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { DynamicToolPart } from '@homeport/contracts/chat/frames';
import { until } from '../../../contracts/test/until.ts';
import type { Json, SignedIn, TestApp } from '../app.ts';
import { type AgentChat, agentApp, type Call } from '../assistants/agent-makers.ts';
import { partsOf, postChat, readStream, type StreamedFrame, submit } from '../chat/chat-harness.ts';
import { type FakeSearchService, startSearchService } from '../fakes/search-service.ts';
import { type FakeWebSite, startWebSite } from '../fakes/web-site.ts';

/** An app with a search service and a site on loopback, for all tests of the file that calls this. */
export function webApp() {
  const agents = agentApp();
  let site: FakeWebSite | undefined;
  let service: FakeSearchService | undefined;
  let admin: SignedIn | undefined;
  before(async () => {
    site = await startWebSite();
    service = await startSearchService();
    // Hooks of a file begin at the same time.
    await until('the app', async () => agents.isStarted);
    admin = await agents.app.signIn({ role: 'admin' });
    const settings = { kind: 'searxng', baseUrl: service.url, forEveryone: true, askAfterReading: 'on' };
    assert.equal((await admin.call('PUT /api/admin/web-search', settings)).status, 200);
  });
  after(async () => {
    await site?.close();
    await service?.close();
  });
  return {
    agents,
    get app(): TestApp {
      return agents.app;
    },
    get site(): FakeWebSite {
      return started(site);
    },
    get service(): FakeSearchService {
      return started(service);
    },
    get admin(): SignedIn {
      return started(admin);
    },
    /** Makes the service find these paths of the site. */
    finds(...paths: string[]): void {
      const { url } = started(site);
      const results = paths.map((path) => ({
        url: `${url}${path}`,
        title: `About ${path}`,
        content: `Begin of ${path}`,
      }));
      started(service).reply({ body: { results } });
    },
  };
}

function started<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The app has not been started');
  return value;
}

type Run = { calls: DynamicToolPart[]; outputs: Json[]; asked: string[]; text: string; messageId: string };

/** One answer that makes these calls step by step and then says `text`. Questions are answered with no. */
export async function runCalls(
  web: ReturnType<typeof webApp>,
  chat: AgentChat,
  steps: (readonly Call[])[],
  { text = 'go', extra = {} }: { text?: string; extra?: object } = {},
): Promise<Run> {
  web.agents.script(chat.model, ...steps);
  const inputId = await submit(chat.user, chat.chatId, text, extra);
  const asked: string[] = [];
  let messageId = '';
  const onFrame = ({ frame }: StreamedFrame): boolean => {
    if (frame.type === 'start') messageId = frame.messageId;
    if (frame.type !== 'tool-approval-request') return false;
    asked.push(frame.toolCallId);
    void chat.user.call(`POST /api/chat/${chat.chatId}/approvals`, { approvalId: frame.approvalId, approved: false });
    return false;
  };
  const streamed = await readStream(await postChat(chat.user, { chatId: chat.chatId, messageId: inputId }), onFrame);
  const calls = partsOf(streamed.frames).filter((part): part is DynamicToolPart => part.type === 'dynamic-tool');
  return {
    calls,
    outputs: calls.map((call) => ('output' in call ? call.output : undefined)),
    asked: calls.filter(({ toolCallId }) => asked.includes(toolCallId)).map(({ toolName }) => toolName),
    text: streamed.text,
    messageId,
  };
}
