import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';
import { answerControl } from './provider-control.ts';
import { type FakeKind, readRequest, type SealedStep } from './provider-kinds.ts';
import {
  type FakeCall,
  type FakeChatBody,
  type FakeScript,
  type FakeStep,
  failure,
  scriptedModelIds,
  scriptForModel,
  wordChunk,
  wordEvent,
} from './provider-scripts.ts';
import { createSpeaker, plainly, type Speaker } from './provider-speakers.ts';

/** One request as the provider saw it. */
export type FakeRequest = {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** What was asked, as a request of chat completions. */
  body: FakeChatBody;
  /** The same as it came. */
  raw: Record<string, unknown>;
  kind: FakeKind;
  /** How the exchange ended: the client went away, the provider broke it, or the answer was sent whole. */
  closed: Promise<'aborted' | 'dropped' | 'complete'>;
  aborted: boolean;
  receivedAt: number;
  closedAt: number | undefined;
  /** What was answered so far; empty unless the provider was started with `keepSent`. */
  sent(): string;
};

export type FakeProvider = {
  /** Base URL, ending in /v1. */
  url: string;
  requests: FakeRequest[];
  /** Ids answered by `/models`. */
  models: string[];
  /** Calls of the newest turn that came back without what sealed them, or with something else; and how many came back well. */
  seals: { faults: string[]; kept: number };
  /** Scripts for the next chat requests, before any by model id. */
  enqueue(...scripts: (FakeScript | ((call: FakeCall) => FakeScript))[]): void;
  /** What a model id does from here on. */
  script(modelId: string, make: (call: FakeCall) => FakeScript): void;
  /** Makes every answer wait before its next step, until `release`. */
  hold(): void;
  release(): void;
  /** The `index`-th chat request (from 0), as soon as it is there. */
  waitForRequest(index?: number): Promise<FakeRequest>;
  close(): Promise<void>;
};

/** A provider on loopback, in any of the four protocols, whose answers follow scripts; by itself the model id chooses the behaviour. */
export async function startFakeProvider(
  options: { port?: number; host?: string; keepSent?: boolean; control?: typeof answerControl } = {},
): Promise<FakeProvider> {
  const requests: FakeRequest[] = [];
  const chats: FakeRequest[] = [];
  const queue: (FakeScript | ((call: FakeCall) => FakeScript))[] = [];
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
      sendModels(response, models);
      return;
    }
    chats.push(recorded);
    for (const waiter of waiters) if (chats.length === waiter.index + 1) waiter.resolve(recorded);
    for (const step of given.steps) checkSeals(step);
    const speaker = createSpeaker(given.kind, (callId, seal) => sealed.set(callId, seal));
    await play(response, chooseScript(recorded), gate, speaker);
  }

  function checkSeals({ callIds, seals: came }: SealedStep): void {
    for (const callId of callIds) {
      const seal = sealed.get(callId);
      if (seal === undefined) continue;
      if (came.includes(seal)) seals.kept += 1;
      else seals.faults.push(`${callId}: ${came.join() || 'nothing'} in place of ${seal}`);
    }
  }

  function chooseScript(recorded: FakeRequest): FakeScript {
    const model = recorded.body.model ?? '';
    const count = (counts.get(model) ?? 0) + 1;
    counts.set(model, count);
    const call: FakeCall = { body: recorded.body, headers: recorded.headers, count };
    const next = queue.shift() ?? byModel.get(model);
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
    enqueue: (...scripts) => void queue.push(...scripts),
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

async function play(response: ServerResponse, script: FakeScript, gate: Gate, speak: Speaker): Promise<void> {
  if (script.head !== false) {
    response.writeHead(script.status ?? 200, { 'content-type': 'text/event-stream', ...script.headers });
    response.flushHeaders();
  }
  for (const step of script.steps) {
    await gate.passed();
    if (response.destroyed) return;
    await playStep(response, step, gate, speak);
  }
  response.end();
}

async function playStep(response: ServerResponse, step: FakeStep, gate: Gate, speak: Speaker): Promise<void> {
  if ('event' in step) {
    await write(response, speak(step.event));
  } else if ('raw' in step) {
    await write(response, step.raw);
  } else if ('words' in step) {
    await playWords(response, step, gate, speak);
  } else if ('wait' in step) {
    await delay(response, step.wait);
  } else if ('hold' in step) {
    gate.hold();
    await gate.passed();
  } else if ('pause' in step) {
    await Promise.race([gate.nextRelease(), once(response, 'close')]);
  } else if ('drop' in step) {
    droppedByScript.add(response);
    // What was written still arrives; the chunked body lacks its end.
    response.socket?.destroySoon();
    await once(response, 'close');
  } else {
    await once(response, 'close');
  }
}

async function playWords(
  response: ServerResponse,
  step: { words: number; rate: number; stamp?: boolean },
  gate: Gate,
  speak: Speaker,
): Promise<void> {
  const began = performance.now();
  for (let index = 0; index < step.words && !response.destroyed; index++) {
    if (gate.isHeld()) await gate.passed();
    // Due times are absolute, so that a late timer does not slow the stream down.
    const wait = step.rate === 0 ? 0 : began + (index * 1000) / step.rate - performance.now();
    if (wait > 0) await delay(response, wait);
    await write(
      response,
      speak === plainly ? wordEvent(index, step.stamp === true) : speak(wordChunk(index, step.stamp === true)),
    );
  }
}

async function write(response: ServerResponse, data: string | Uint8Array): Promise<void> {
  keptBytes.get(response)?.push(Buffer.from(data));
  if (!response.write(data)) await writable(response);
}

function writable(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}

function delay(response: ServerResponse, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      response.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    response.on('close', done);
  });
}

const droppedByScript = new WeakSet<ServerResponse>();
const keptBytes = new WeakMap<ServerResponse, Buffer[]>();

type Gate = ReturnType<typeof createGate>;

function createGate() {
  let held: PromiseWithResolvers<void> | undefined;
  let next = Promise.withResolvers<void>();
  return {
    hold(): void {
      held ??= Promise.withResolvers();
    },
    release(): void {
      held?.resolve();
      held = undefined;
      next.resolve();
      next = Promise.withResolvers();
    },
    nextRelease: (): Promise<void> => next.promise,
    isHeld: (): boolean => held !== undefined,
    async passed(): Promise<void> {
      await held?.promise;
    },
  };
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

function sendModels(response: ServerResponse, models: string[]): void {
  const data = models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'fake' }));
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ object: 'list', data }));
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
