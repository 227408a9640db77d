import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { model, provider } from '@homeport/contracts/catalogue/catalogue';
import { chat } from '@homeport/contracts/chat/conversations';
import { Client } from 'pg';
import { freePort } from '../../../contracts/test/free-port.ts';
import { Connection } from '../load/connection.ts';
import { cores, type Pinned, startPinned } from './processes.ts';

const administrator = { name: 'Bench', email: 'bench@example.org', password: 'bench-password-2026' };

export type Product = {
  pid: number;
  /** The postmaster: parent of all processes of the database. */
  databasePid: number;
  port: number;
  cookie: string;
  dataDir: string;
  socketDir: string;
  process: Pinned;
  /** Calls the API; throws unless the response is 2xx. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  createChats(count: number): Promise<string[]>;
  /** Adds a model with this context window; resolves with its id. */
  addModel(contextWindow: number): Promise<string>;
  openDatabase(): Promise<Client>;
  stop(): Promise<void>;
};

/** A separate data folder that disappears with this process. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-bench-'));
  scratchFolders.push(folder);
  return folder;
}

const scratchFolders: string[] = [];
process.on('exit', () => {
  for (const folder of scratchFolders) rmSync(folder, { recursive: true, force: true });
});

/** Starts the built product; resolves once it is healthy, with the milliseconds it took. */
export async function launchProduct(
  dist: string,
  dataDir: string,
  env: Record<string, string> = {},
): Promise<{ process: Pinned; port: number; healthyMs: number }> {
  const port = await freePort();
  const startedAt = performance.now();
  const launched = startPinned(cores.subject, [join(dist, 'server/main.mjs')], {
    cwd: dataDir,
    env: {
      DATA_DIR: dataDir,
      PORT: String(port),
      LOG_LEVEL: 'warn',
      DATABASE_URL: '',
      HOST: '',
      BASE_URL: '',
      // The scripted provider is on loopback without TLS. Titles by a model would be a second answer, not part of the
      // first.
      ALLOW_PRIVATE_EGRESS: 'true',
      ALLOW_INSECURE_HTTP: 'true',
      MODEL_TITLES: 'false',
      WORKSPACE_MODE: 'disabled',
      EDITION: 'community',
      AUTH_SECRET: '',
      SETTINGS_ENCRYPTION_KEY: '',
      NODE_OPTIONS: '',
      ...env,
    },
  });
  await waitUntilHealthy(port, launched);
  return { process: launched, port, healthyMs: performance.now() - startedAt };
}

async function waitUntilHealthy(port: number, launched: Pinned): Promise<void> {
  const until = performance.now() + 60_000;
  while (performance.now() < until) {
    if (launched.child.exitCode !== null) throw new Error(`The product ended:\n${launched.output()}`);
    if (await isHealthy(port)) return;
    await delay(3);
  }
  throw new Error(`The product is not healthy after 60 s:\n${launched.output()}`);
}

async function isHealthy(port: number): Promise<boolean> {
  const connection = await Connection.open(port).catch(() => undefined);
  if (connection === undefined) return false;
  const answer = await connection
    .exchange(connection.requestText('GET', '/api/health', ''))
    .catch(() => ({ status: 0 }));
  connection.close();
  return answer.status === 200;
}

/** The product on a new data folder, set up through its API: administrator, provider with an API key, one model. */
export async function startProduct(options: {
  dist: string;
  providerPort: number;
  env?: Record<string, string>;
  /** The model's name at the provider; the benchmarks' own by default. */
  modelName?: string;
}): Promise<Product> {
  const dataDir = scratchFolder();
  const { process: launched, port } = await launchProduct(options.dist, dataDir, options.env);
  const { cookie, providerId } = await setUp(port, options);
  const databasePid = postmasterPid(dataDir);
  const socketDir = pidFileLines(dataDir)[4] ?? '';
  return {
    pid: launched.pid,
    databasePid,
    port,
    cookie,
    dataDir,
    socketDir,
    process: launched,
    call: (method, path, body) => callApi(port, cookie, method, path, body),
    async createChats(count) {
      const ids: string[] = [];
      while (ids.length < count) {
        const wanted = Math.min(20, count - ids.length);
        const made = await Promise.all(
          Array.from({ length: wanted }, () => callApi(port, cookie, 'POST', '/api/chats', { title: 'Bench' })),
        );
        ids.push(...made.map((answer) => chat.parse(member(answer, 'chat')).id));
      }
      return ids;
    },
    addModel: (contextWindow) => addModel(port, cookie, providerId, contextWindow),
    async openDatabase() {
      const client = new Client({ host: socketDir, user: 'homeport', database: 'homeport' });
      await client.connect();
      return client;
    },
    stop: () => launched.stop(),
  };
}

function pidFileLines(dataDir: string): string[] {
  return readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
}

/** The parent of all processes of the database in a data folder. */
export function postmasterPid(dataDir: string): number {
  return Number(pidFileLines(dataDir)[0]);
}

/** The first administrator, the scripted provider and one model. */
export async function setUp(
  port: number,
  options: { providerPort: number; modelName?: string },
): Promise<{ cookie: string; providerId: string }> {
  const response = await fetch(`http://127.0.0.1:${port}/api/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(administrator),
  });
  if (response.status !== 201) throw new Error(`POST /api/setup answered ${response.status}: ${await response.text()}`);
  const cookie = cookieOf(response);
  const baseUrl = `http://127.0.0.1:${options.providerPort}/v1`;
  const added = await callApi(port, cookie, 'POST', '/api/providers', {
    name: 'Scripted',
    baseUrl,
    apiKey: 'bench-key-0123456789abcdef',
  });
  const providerId = provider.parse(member(added, 'provider')).id;
  await addModel(port, cookie, providerId, 1_000_000, options.modelName);
  return { cookie, providerId };
}

async function addModel(
  port: number,
  cookie: string,
  providerId: string,
  contextWindow: number,
  providerModelId = 'bench',
): Promise<string> {
  const maxOutputTokens = Math.min(1_000, Math.floor(contextWindow / 2));
  const answer = await callApi(port, cookie, 'POST', '/api/models', {
    providerId,
    providerModelId,
    displayName: 'Bench',
    contextWindow,
    maxOutputTokens,
    tier: 1,
  });
  return model.parse(member(answer, 'model')).id;
}

/** A second session of the administrator. */
export async function signIn(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: administrator.email, password: administrator.password }),
  });
  if (!response.ok) throw new Error(`Sign-in answered ${response.status}: ${await response.text()}`);
  return cookieOf(response);
}

/** The session token inside a cookie. */
export function tokenOf(cookie: string): string {
  return decodeURIComponent(cookie.slice(cookie.indexOf('=') + 1)).split('.')[0] ?? '';
}

function cookieOf(response: Response): string {
  const cookie = response.headers.getSetCookie().find((each) => each.includes('session_token='));
  if (cookie === undefined) throw new Error('No session cookie was set');
  return cookie.split(';')[0] ?? '';
}

export async function callApi(
  port: number,
  cookie: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { cookie, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`);
  return text === '' ? undefined : JSON.parse(text);
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return new Map<string, unknown>(Object.entries(value)).get(name);
}
