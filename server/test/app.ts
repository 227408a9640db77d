import './cheap-passwords.ts';
import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EndpointSpec } from '@homeport/contracts/endpoint';
import { endpoints } from '@homeport/contracts/endpoints';
import { pino } from 'pino';
import { cookieRule, sessionCookie } from '../src/accounts/session-cookie.ts';
import { insertSession } from '../src/accounts/sessions.ts';
import { insertUser, type NewUser } from '../src/accounts/users.ts';
import { type ChatTimings, defaultTimings } from '../src/chat/run/running-responses.ts';
import type { FindTools } from '../src/chat/tools/find-tools.ts';
import type { Config } from '../src/config/config.ts';
import { Outage } from '../src/db/outage.ts';
import { openDatabase } from '../src/db/pool.ts';
import type { StatementTrace } from '../src/db/wire.ts';
import type { Egress } from '../src/egress/egress.ts';
import { documentedErrors } from '../src/http/openapi.ts';
import { type Clock, systemClock } from '../src/platform/clock.ts';
import { hidingHooks } from '../src/platform/logger.ts';
import { createService, type Service, type ServiceOptions } from '../src/service.ts';
import { createTracing } from '../src/tracing/open-tracing.ts';
import { noTracing } from '../src/tracing/tracing.ts';
import { defaultWorkspaceTimings, type WorkspaceTimings } from '../src/workspaces/lifecycle/timings.ts';
import type { WorkspaceRuntime } from '../src/workspaces/runtime.ts';
import { createTestDatabase, silentLog, type TestDatabase, waitForConnections } from './database.ts';
import { ProcessRuntime } from './fakes/process-runtime.ts';
import { parsingFolder } from './sandbox/parsing.ts';

export const testConfig: Config = {
  edition: 'community',
  databaseUrl: undefined,
  databaseDirectUrl: undefined,
  databasePoolMax: 20,
  dataDir: '/nonexistent',
  host: '127.0.0.1',
  port: 0,
  baseUrl: undefined,
  previewOrigin: undefined,
  authSecret: 'test-auth-secret-of-more-than-32-bytes',
  encryptionKey: 'test-encryption-key-of-more-than-32-bytes',
  previousEncryptionKeys: [],
  setupClaimToken: undefined,
  metricsToken: undefined,
  tracesBase: undefined,
  tracesUrl: undefined,
  tracesProtocol: 'http/protobuf',
  tracesHeaders: undefined,
  tracesService: 'homeport',
  tracesResource: undefined,
  tracesSampler: 'parentbased_always_on',
  tracesSamplerArg: '1',
  traceContextToProviders: false,
  allowPrivateEgress: true,
  allowInsecureHttp: true,
  httpsProxy: undefined,
  httpProxy: undefined,
  noProxy: [],
  trustedProxies: [],
  artifactMaxUploadBytes: 1024 * 1024,
  maxConnections: 5_000,
  answersPerAccount: 500,
  streamsPerAccount: 1_000,
  drainSeconds: 0,
  artifactStore: undefined,
  workspaceMode: 'disabled',
  workspaceIdleMinutes: 30,
  workspaceEgress: 'proxy',
  workspaceMemoryMb: 1024,
  workspaceCpus: 1,
  workspaceProcesses: 512,
  artifactQuotaMb: 0,
  workspaceDiskMb: 10_240,
  workspaceFiles: 1_000_000,
  workspaceModels: true,
  workspaceImage: 'homeport-workspace:latest',
  workspaceDockerHost: 'unix:///var/run/docker.sock',
  workspaceDockerRuntime: undefined,
  workspaceNamespace: undefined,
  workspaceInstallation: 'homeport',
  workspaceControlUrl: undefined,
  workspacePort: 0,
  workspaceControlPods: undefined,
  workspaceStorageSize: '1Gi',
  workspaceStorageClass: undefined,
  workspaceRuntimeClass: undefined,
  awsRegion: 'us-east-1',
  awsEndpoint: undefined,
  awsAccessKeyId: undefined,
  awsSecretAccessKey: undefined,
  awsSessionToken: undefined,
  backupSchedule: undefined,
  backupTo: undefined,
  backupKeep: 7,
  auditDays: 400,
  fromEnvironment: new Set(),
  backupPassphrase: undefined,
  backupWorkspaces: false,
  logLevel: 'silent',
  modelTitles: false,
  compactionAt: 85,
  version: '0.0.0-test',
};

export type TestAppOptions = {
  config?: Partial<Config>;
  clock?: Clock;
  timings?: Partial<ChatTimings>;
  egress?: Egress;
  /** Another replica of an app on the same database. */
  database?: TestDatabase;
  /** Receives every log line. */
  log?: (line: string) => void;
  webFolder?: string;
  findTools?: FindTools;
  /** Enables workspaces, which run there. */
  workspaceRuntime?: WorkspaceRuntime;
  workspaceTimings?: Partial<WorkspaceTimings>;
  /** The room on the disk of its data folder. */
  readSpace?: ServiceOptions['readSpace'];
  /** No other replica, and a database on the disk of its data folder. */
  alone?: boolean;
  /** The first replica after all were stopped. */
  isFirst?: boolean;
  /** Refuses requests that get no database connection in time, as in production; for tests without a database. */
  givesUp?: boolean;
  /** Is called with every statement of the pool, in place of tracing. */
  trace?: StatementTrace;
};

/** The whole application on real HTTP and a database of its own. Call `stop` in `after`. */
export type TestApp = {
  url: string;
  service: Service;
  database: TestDatabase;
  /** A caller without a session. */
  anonymous: Caller;
  /** A fresh signed-in user. */
  signIn(user?: Partial<NewUser>): Promise<SignedIn>;
  stop(): Promise<void>;
};

export type Answer = { status: number; body: Json; text: string; headers: Headers };
/** JSON in tests: every member can be read. */
// biome-ignore lint/suspicious/noExplicitAny: assertions on it are what checks it.
export type Json = any;
type CallInit = { query?: Record<string, string>; headers?: Record<string, string>; signal?: AbortSignal };
export type Caller = {
  cookie: string | undefined;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** `call('POST /api/chats', {…})`: the answer, checked against the endpoint table's response schema. */
  call(route: string, body?: unknown, init?: CallInit): Promise<Answer>;
};
export type SignedIn = Caller & { id: string; email: string };

/** The database of each runtime's workspaces: a service stops workspaces that are not in its database. */
const databaseOf = new WeakMap<WorkspaceRuntime, TestDatabase>();

export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.database ?? (await createTestDatabase());
  if (options.workspaceRuntime !== undefined) {
    const known = databaseOf.get(options.workspaceRuntime) ?? database;
    if (known !== database) throw new Error('Another app uses this runtime, with another database');
    databaseOf.set(options.workspaceRuntime, database);
  }
  const files = await mkdtemp(join(tmpdir(), 'homeport-test-files-'));
  const config: Config = { ...testConfig, artifactStore: files, ...options.config };
  const outage = new Outage();
  const hooks = hidingHooks((details) => outage.hides(details));
  const log =
    options.log === undefined ? pino({ level: 'silent' }) : pino({ level: 'debug', hooks }, { write: options.log });
  const tracing = await createTracing(config, log);
  const statements = options.trace ?? (tracing === noTracing ? undefined : tracing.statement);
  const trace = statements === undefined ? {} : { trace: statements };
  const alone = options.alone ?? false;
  const appLog = options.log === undefined ? silentLog : log;
  const db = openDatabase({ ...database.address, max: 10, alone, log: appLog, outage, ...trace });
  if (options.givesUp !== true) waitForConnections(db);
  const service = await createService({
    config,
    db,
    log,
    tracing,
    clock: options.clock ?? systemClock,
    // Messages are answered only on a test's request, and this replica keeps a response however long it takes.
    timings: { ...defaultTimings, graceMs: 3_600_000, leaseMs: 3_600_000, ...options.timings },
    isFirst: options.isFirst ?? false,
    parsingFolder,
    ...(options.egress === undefined ? {} : { egress: options.egress }),
    ...(options.findTools === undefined ? {} : { findTools: options.findTools }),
    ...(options.webFolder === undefined ? {} : { webFolder: options.webFolder }),
    // A paused machine must not look like a lost daemon.
    workspaceTimings: {
      ...defaultWorkspaceTimings,
      healthMs: 60_000,
      statusHealthMs: 60_000,
      ...options.workspaceTimings,
    },
    ...(options.readSpace === undefined ? {} : { readSpace: options.readSpace }),
    ...(options.workspaceRuntime === undefined ? {} : { workspaceRuntime: options.workspaceRuntime }),
  });
  await new Promise<void>((resolve) => service.server.listen(0, '127.0.0.1', resolve));
  const url = addressOf(service.server.address());
  if (options.workspaceRuntime instanceof ProcessRuntime) options.workspaceRuntime.controlUrl = url;
  return {
    url,
    service,
    database,
    anonymous: createCaller(url, undefined),
    async signIn(fields = {}) {
      const email = fields.email ?? `${randomUUIDv7()}@example.org`;
      const user = await insertUser(db.kysely, { name: 'Test User', role: 'user', ...fields, email });
      const now = (options.clock ?? systemClock).now();
      const { token } = await insertSession(db.kysely, user.id, { address: '127.0.0.1', userAgent: 'test' }, now);
      const [cookie] = sessionCookie(cookieRule(config), token).split(';');
      return { ...createCaller(url, cookie), id: user.id, email };
    },
    async stop() {
      await service.stop(0);
      await db.close();
      await tracing.close();
      await rm(files, { recursive: true, force: true });
      if (options.database === undefined) await database.drop();
    },
  };
}

function addressOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new Error('The test server has no port');
  return `http://127.0.0.1:${address.port}`;
}

export function createCaller(url: string, cookie: string | undefined): Caller {
  const send = (path: string, init: RequestInit = {}) =>
    fetch(url + path, {
      redirect: 'manual',
      ...init,
      headers: { ...(cookie === undefined ? {} : { cookie }), ...Object.fromEntries(new Headers(init.headers)) },
    });
  return {
    cookie,
    fetch: send,
    async call(route, body, init = {}) {
      const [method = 'GET', path = '/'] = route.split(' ', 2);
      const query = init.query === undefined ? '' : `?${new URLSearchParams(init.query)}`;
      const response = await send(path + query, {
        method,
        ...(init.signal === undefined ? {} : { signal: init.signal }),
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...init.headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const answer = { status: response.status, headers: response.headers, text, body: parse(text) };
      assertDocumented(method, path, answer);
      return answer;
    },
  };
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const documented = Object.values<EndpointSpec>(endpoints).map((spec) => ({
  spec,
  pattern: new RegExp(`^${spec.path.replace(/:\w+/g, '[^/]+')}$`),
  codes: new Set<string>(documentedErrors(spec)),
}));

/** An answer must match the endpoint table: no undocumented members or error codes. */
function assertDocumented(method: string, path: string, answer: Answer): void {
  const found = documented.find(({ spec, pattern }) => spec.method === method && pattern.test(path));
  if (found === undefined || answer.status === 204) return;
  const code = answer.status < 400 ? undefined : answer.body?.error?.code;
  if (code !== undefined && !found.codes.has(code))
    throw new Error(`${method} ${path} answered ${code}, which its row of the endpoint table does not name`);
  const { response } = found.spec;
  if (answer.status >= 400 || typeof response === 'string') return;
  const result = response.safeParse(answer.body);
  if (!result.success) throw new Error(`${method} ${path} answered what its schema does not allow: ${result.error}`);
  // Parsing drops the members that a schema does not have.
  assert.deepEqual(answer.body, result.data, `${method} ${path} answered members that its schema does not have`);
}
