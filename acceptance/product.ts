import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { freePort } from '../contracts/test/free-port.ts';

export { freePort };

/** The built product and the scripted provider as processes, for black-box tests. */

const root = join(import.meta.dirname, '..');
/** Another build can be tested, such as one with a rule broken on purpose. */
export const dist = process.env.HOMEPORT_DIST ?? join(root, 'dist');
export const administrator = { name: 'Ada Admin', email: 'ada@example.org', password: 'correct-horse-42' };

export type Running = {
  url: string;
  child: ChildProcess;
  /** All it has written so far. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<number | null>;
};

const children = new Set<ChildProcess>();
const dataDirs = new Set<string>();
const goneWithinMs = 10_000;

// A failed test file must neither wait for the processes it started nor leave any behind.
after(async () => {
  killAll();
  const giveUpAt = performance.now() + goneWithinMs;
  const pids = [...dataDirs].map(embeddedPid).filter((pid) => pid !== undefined);
  for (const pid of pids) signal(pid, 'SIGQUIT');
  while ((children.size > 0 || pids.some((pid) => signal(pid, 0))) && performance.now() < giveUpAt) await pause(20);
});
process.on('exit', killAll);

/** Programs end on SIGTERM together with their child processes; the product's database outlives it on purpose. */
function killAll(): void {
  for (const child of children) child.kill(programs.has(child) ? 'SIGTERM' : 'SIGKILL');
  for (const pid of [...dataDirs].flatMap(workspacePids)) signal(pid, 'SIGKILL');
}

/** The processes of the local workspaces of this data folder, which outlive the product on purpose. */
export function workspacePids(dataDir: string): number[] {
  const root = join(dataDir, 'workspaces');
  if (!existsSync(root)) return [];
  return readdirSync(root).flatMap((id) => {
    try {
      const { inner, outer } = JSON.parse(readFileSync(join(root, id, 'host/state.json'), 'utf8'));
      return [inner, outer].filter(isSameProcess).map(({ pid }) => pid);
    } catch {
      return [];
    }
  });
}

/** The process id can belong to another process by now. */
function isSameProcess({ pid, startedAt }: { pid: number; startedAt: string }): boolean {
  try {
    return (
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[19] === startedAt
    );
  } catch {
    return false;
  }
}
const programs = new WeakSet<ChildProcess>();

/** The embedded PostgreSQL that the product started in this data folder. */
export function embeddedPid(dataDir: string): number | undefined {
  try {
    return Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n', 1)[0]);
  } catch {
    return undefined;
  }
}

/** Sends a signal; false when the process is gone. 0 only asks. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** A folder of its own that disappears with this process. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-acceptance-'));
  // Behind the listeners that are there already: one may have to unmount what is in the folder.
  if (scratchFolders.length === 0) process.on('exit', removeScratchFolders);
  scratchFolders.push(folder);
  return folder;
}

const scratchFolders: string[] = [];

function removeScratchFolders(): void {
  for (const folder of scratchFolders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Starts `dist/` on a data folder and waits until it is healthy. `descriptors` are open in it from 3 on. */
export async function startProduct(
  dataDir: string,
  env: Record<string, string> = {},
  port = 0,
  descriptors: readonly (number | 'ignore')[] = [],
): Promise<Running> {
  const running = await launchProduct(dist, dataDir, env, port, descriptors);
  await healthy(running);
  return running;
}

/** Starts the build in a folder such as `dist`, without waiting for it. */
export async function launchProduct(
  folder: string,
  dataDir: string,
  env: Record<string, string>,
  port = 0,
  descriptors: readonly (number | 'ignore')[] = [],
): Promise<Running> {
  const chosen = port === 0 ? await freePort() : port;
  dataDirs.add(dataDir);
  const running = start(
    [join(folder, 'server/main.mjs')],
    {
      DATA_DIR: dataDir,
      PORT: String(chosen),
      ALLOW_PRIVATE_EGRESS: 'true',
      ALLOW_INSECURE_HTTP: 'true',
      MODEL_TITLES: 'false',
      // Tests of workspaces switch them on; every answer of the others would start one.
      WORKSPACE_MODE: 'disabled',
      ...env,
    },
    descriptors,
  );
  return { ...running, url: `http://127.0.0.1:${chosen}` };
}

/** Starts the scripted provider; its url ends in /v1 and the model id selects its behavior. */
export async function startProvider(): Promise<Running> {
  const running = start([join(root, 'server/test/fakes/provider/provider.ts'), '--port', '0'], {});
  for (;;) {
    const url = /http:\/\/\S+\/v1/.exec(running.output())?.[0];
    if (url !== undefined) return { ...running, url };
    if (running.child.exitCode !== null) throw new Error(`The provider ended:\n${running.output()}`);
    await pause(10);
  }
}

/** Starts a program of this repository; its `url` is on its first line of output. */
export async function startProgram(path: string, env: Record<string, string> = {}): Promise<Running> {
  const running = start([join(root, path)], env);
  programs.add(running.child);
  for (;;) {
    const [url, rest] = running.output().split('\n', 2);
    if (rest !== undefined) return { ...running, url: url ?? '' };
    if (running.child.exitCode !== null) throw new Error(`${path} ended:\n${running.output()}`);
    await pause(10);
  }
}

function start(
  args: string[],
  env: Record<string, string>,
  descriptors: readonly (number | 'ignore')[] = [],
): Omit<Running, 'url'> {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: tmpdir(),
    env: { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...descriptors],
  });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data: Buffer) => {
      output += data.toString();
    });
  }
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      children.delete(child);
      resolve(code);
    });
  });
  return { child, output: () => output, kill: (signal) => child.kill(signal), exited };
}

/** Resolves when it answers that it is healthy; rejects if it ends before. */
export async function healthy(running: Running): Promise<void> {
  for (;;) {
    if (running.child.exitCode !== null) throw new Error(`The product ended:\n${running.output()}`);
    const ok = await fetch(`${running.url}/api/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    await pause(20);
  }
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** JSON as tests read it. */
// biome-ignore lint/suspicious/noExplicitAny: assertions on it are what checks it.
export type Json = any;
export type Answer = { status: number; body: Json; text: string };

/** A caller with a cookie. `url` may change between calls, when the product comes back on another port. */
export class Caller {
  url: string;
  cookie: string;

  constructor(url: string, cookie: string) {
    this.url = url;
    this.cookie = cookie;
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(this.url + path, {
      ...init,
      headers: { cookie: this.cookie, ...Object.fromEntries(new Headers(init.headers)) },
    });
  }

  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await this.fetch(path, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, text, body: isJson ? JSON.parse(text) : undefined };
  }

  /** Calls and insists on success. */
  async must(method: string, path: string, body?: unknown): Promise<Json> {
    const answer = await this.call(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  }
}

/** Creates the first administrator and returns them signed in. */
export async function setUp(url: string): Promise<Caller> {
  const response = await fetch(`${url}/api/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(administrator),
  });
  if (response.status !== 201) throw new Error(`Setup answered ${response.status}: ${await response.text()}`);
  return new Caller(url, cookieOf(response));
}

function cookieOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');
}

/** A provider with a model for each id; the first becomes the default. Returns their ids here. */
export async function addModels(
  caller: Caller,
  baseUrl: string,
  modelIds: readonly string[],
  kind: ProviderKind = 'openai',
): Promise<string[]> {
  const fields = { name: `Scripted ${kind}`, kind, baseUrl, apiKey: 'sk-acceptance' };
  const { provider } = await caller.must('POST', '/api/providers', fields);
  const ids: string[] = [];
  for (const providerModelId of modelIds) {
    const { model } = await caller.must('POST', '/api/models', {
      providerId: provider.id,
      providerModelId,
      displayName: providerModelId,
      contextWindow: 100_000,
      maxOutputTokens: 4_000,
      tier: 1,
    });
    ids.push(model.id);
  }
  return ids;
}

export type Event = { id: number; frame: Json };
export type StreamEnd = { events: Event[]; text: string; done: boolean; status: number };

/** Reads a response stream to its end, or until the connection breaks. `onEvent` true leaves early. */
export async function readEvents(
  response: Response,
  onEvent: (event: Event) => boolean = () => false,
  onBreak: () => void = () => undefined,
): Promise<StreamEnd> {
  const end: StreamEnd = { events: [], text: '', done: false, status: response.status };
  if (response.status !== 200 || response.body === null) return end;
  const decoder = new TextDecoder();
  let buffer = '';
  try {
    for await (const chunk of response.body) {
      buffer += decoder.decode(chunk, { stream: true });
      for (let stop = buffer.indexOf('\n\n'); stop >= 0; stop = buffer.indexOf('\n\n')) {
        const block = buffer.slice(0, stop);
        buffer = buffer.slice(stop + 2);
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data === '[DONE]') end.done = true;
        if (data === undefined || data === '[DONE]') continue;
        const event = { id: Number(/^id: (\d+)$/m.exec(block)?.[1]), frame: JSON.parse(data) };
        end.events.push(event);
        if (event.frame.type === 'text-delta') end.text += event.frame.delta;
        if (onEvent(event)) return end;
      }
    }
  } catch {
    // The connection broke; earlier events count.
    onBreak();
  }
  return end;
}

export function seedOf(name: string): number {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`${name}: TEST_SEED=${seed}`);
  return seed;
}
