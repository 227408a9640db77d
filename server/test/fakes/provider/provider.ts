import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';
import { answerControl } from './provider-control.ts';
import { type FakeKind, readRequest, type SealedStep } from './provider-kinds.ts';
import { kindOfList, modelList } from './provider-lists.ts';
import { createGate, droppedByScript, keptBytes, play } from './provider-play.ts';
import {
  type FakeCall,
  type FakeChatBody,
  type FakeScript,
  failure,
  scriptedModelIds,
  scriptForModel,
} from './provider-scripts.ts';
import { createSpeaker, plainly } from './provider-speakers.ts';

/** One request as the provider received it. */
export type FakeRequest = {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** The request, as a request of chat completions. */
  body: FakeChatBody;
  /** The same as received. */
  raw: Record<string, unknown>;
  kind: FakeKind;
  /** How the exchange ended: the client disconnected, the provider broke it, or the answer was sent completely. */
  closed: Promise<'aborted' | 'dropped' | 'complete'>;
  aborted: boolean;
  receivedAt: number;
  closedAt: number | undefined;
  /** All answers so far; empty unless the provider was started with `keepSent`. */
  sent(): string;
};

export type FakeProvider = {
  /** Base URL, ending in /v1. */
  url: string;
  requests: FakeRequest[];
  /** Ids answered by `/models`. */
  models: string[];
  /**
   * Calls of the newest turn that came back without their seal, or with another one; and the number of calls with the
   * correct one.
   */
  seals: { faults: string[]; kept: number };
  /**
   * Scripts for the next requests with this model id, before the id's own. Requests for a title take none, as they run
   * in the background.
   */
  enqueue(modelId: string, ...scripts: (FakeScript | ((call: FakeCall) => FakeScript))[]): void;
  /** Sets the script of a model id from here on. */
  script(modelId: string, make: (call: FakeCall) => FakeScript): void;
  /** Makes every answer wait before its next step, until `release`. */
  hold(): void;
  release(): void;
  /** The `index`-th chat request (from 0), as soon as it arrives. */
  waitForRequest(index?: number): Promise<FakeRequest>;
  close(): Promise<void>;
};

/**
 * A provider on loopback, in any of the four protocols, whose answers follow scripts; by default the model id chooses
 * the behavior.
 */
export async function startFakeProvider(
  options: { port?: number; host?: string; keepSent?: boolean; control?: typeof answerControl } = {},
): Promise<FakeProvider> {
  const requests: FakeRequest[] = [];
  const chats: FakeRequest[] = [];
  const queues = new Map<string, (FakeScript | ((call: FakeCall) => FakeScript))[]>();
  const byModel = new Map<string, (call: FakeCall) => FakeScript>();
  const counts = new Map<string, number>();
  const models = [...scriptedModelIds];
  const waiters: { index: number; resolve: (request: FakeRequest) => void }[] = [];
  const gate = createGate();
  const sealed = new Map<string, string>();
  const seals: FakeProvider['seals'] = { faults: [], kept: 0 };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (options.control?.(provider, request, response) === true) return;
    if (options.keepSent === true) keptBytes.set(response, []);
    const raw = parseBody(await readText(request));
    const given = readRequest(request.url ?? '', raw);
    const recorded = record(request, response, { ...given, raw });
    requests.push(recorded);
    if (/\/models(\?|$)/.test(recorded.path)) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(modelList(kindOfList(recorded), models)));
      return;
    }
    if (!['messages', 'input', 'contents'].some((name) => Object.hasOwn(raw, name))) {
      await play(response, failure(400, 'Nothing was asked'), gate, {
        kind: given.kind,
        body: given.body,
        speak: plainly,
      });
      return;
    }
    chats.push(recorded);
    for (const waiter of waiters) if (chats.length === waiter.index + 1) waiter.resolve(recorded);
    for (const step of given.steps) checkSeals(step);
    const speak = createSpeaker(given.kind, (callId, seals) =>
      sealed.set(callId, seals.map((seal) => JSON.stringify(seal)).join('\n')),
    );
    await play(response, chooseScript(recorded), gate, { kind: given.kind, body: given.body, speak });
  }

  function checkSeals({ callIds, seals: came }: SealedStep): void {
    for (const callId of callIds) {
      const seal = sealed.get(callId);
      if (seal === undefined) continue;
      if (came.join('\n') === seal) seals.kept += 1;
      else seals.faults.push(`${callId}: ${came.join() || 'nothing'} in place of ${seal}`);
    }
  }

  function chooseScript(recorded: FakeRequest): FakeScript {
    const model = recorded.body.model ?? '';
    const count = (counts.get(model) ?? 0) + 1;
    counts.set(model, count);
    const call: FakeCall = { body: recorded.body, headers: recorded.headers, count };
    const next = (asksForTitle(call) ? undefined : queues.get(model)?.shift()) ?? byModel.get(model);
    const script = typeof next === 'function' ? next(call) : next;
    return script ?? scriptForModel(call) ?? failure(404, `The model ${model} does not exist`);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  const provider: FakeProvider = {
    url: `http://${options.host ?? '127.0.0.1'}:${port}/v1`,
    requests,
    models,
    seals,
    enqueue: (modelId, ...scripts) => void queues.set(modelId, [...(queues.get(modelId) ?? []), ...scripts]),
    script: (modelId, make) => void byModel.set(modelId, make),
    hold: gate.hold,
    release: gate.release,
    waitForRequest(index = 0) {
      const there = chats[index];
      if (there !== undefined) return Promise.resolve(there);
      return new Promise((resolve) => waiters.push({ index, resolve }));
    },
    async close() {
      gate.release();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return provider;
}

function asksForTitle({ body: { messages = [] } }: FakeCall): boolean {
  return messages.some(({ role, content }) => role === 'system' && /^Name this conversation:/.test(String(content)));
}

function record(
  request: IncomingMessage,
  response: ServerResponse,
  { body, kind, raw }: Pick<FakeRequest, 'body' | 'kind' | 'raw'>,
): FakeRequest {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) headers[name] = String(value);
  const ended = Promise.withResolvers<'aborted' | 'dropped' | 'complete'>();
  const recorded: FakeRequest = {
    method: request.method ?? '',
    path: request.url ?? '',
    headers,
    body,
    raw,
    kind,
    closed: ended.promise,
    aborted: false,
    receivedAt: performance.now(),
    closedAt: undefined,
    sent: () => Buffer.concat(keptBytes.get(response) ?? []).toString(),
  };
  response.on('close', () => {
    recorded.closedAt = performance.now();
    const dropped = droppedByScript.has(response);
    recorded.aborted = !response.writableFinished && !dropped;
    ended.resolve(response.writableFinished ? 'complete' : dropped ? 'dropped' : 'aborted');
  });
  return recorded;
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const part of request) chunks.push(part);
  return Buffer.concat(chunks).toString();
}

function parseBody(text: string): Record<string, unknown> {
  return text === '' ? {} : JSON.parse(text);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '0' }, host: { type: 'string' } } });
  const provider = await startFakeProvider({
    port: Number(values.port),
    ...(values.host === undefined ? {} : { host: values.host }),
    keepSent: true,
    control: answerControl,
  });
  console.log(provider.url);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      provider.close().then(() => process.exit(0));
    });
  }
}
