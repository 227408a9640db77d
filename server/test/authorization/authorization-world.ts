import { randomUUIDv7 } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { until } from '../../../contracts/test/until.ts';
import { insertPassword } from '../../src/accounts/credentials.ts';
import { createInvitation } from '../../src/accounts/invitations.ts';
import { hashPassword } from '../../src/accounts/passwords.ts';
import { cookieRule, sessionCookie } from '../../src/accounts/session-cookie.ts';
import { insertSession } from '../../src/accounts/sessions.ts';
import { createToken } from '../../src/accounts/tokens/tokens.ts';
import { insertUser, type NewUser, setUserEnabled } from '../../src/accounts/users.ts';
import { createArtifact } from '../../src/artifacts/uploads.ts';
import { createAssistant } from '../../src/assistants/assistants.ts';
import { createPrompt } from '../../src/assistants/prompts.ts';
import { createSkill } from '../../src/assistants/skill-library.ts';
import { readSkillPackage } from '../../src/assistants/skill-package.ts';
import { operator } from '../../src/audit/audit.ts';
import { installationOwner } from '../../src/catalogue/catalogue-owner.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createProject, putMember } from '../../src/projects/projects.ts';
import { shareTokenHash } from '../../src/sharing/shares.ts';
import { RuntimeFailure } from '../../src/workspaces/runtime.ts';
import { newWorkspaceToken, workspaceTokenHash } from '../../src/workspaces/tokens.ts';
import { startTestApp, type TestApp, testConfig } from '../app.ts';
import { makeModel, makeProvider } from '../catalogue/catalogue-makers.ts';
import { addPromptContext, answer, makeChat, queueInput, say } from '../conversations/conversation-makers.ts';
import { echoTool, expectedFingerprint, type FakeMcp, startFakeMcp } from '../fakes/mcp-server.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { ScriptedRuntime } from '../fakes/scripted-runtime.ts';

/** The callers, their records, and another user's: the users and records of the authorization matrix. */

export const actorKinds = [
  'nobody',
  'tampered cookie',
  'expired session',
  'disabled',
  'must change password',
  'plain user',
  'without provider rights',
  'without MCP rights',
  'administrator',
  'workspace',
  'stopped workspace',
  'workspace of a disabled account',
  'workspace of a password to change',
] as const;
export type ActorKind = (typeof actorKinds)[number];

/** One of each record that an id can name. */
export type Records = {
  chat: string;
  /** A submitted message of `chat`, and the answer to it. */
  message: string;
  answer: string;
  /** A file of `chat`. */
  artifact: string;
  /** A summary in place of the messages of `chat`. */
  summary: string;
  /** A queued input of `chat`. */
  input: string;
  provider: string;
  model: string;
  mcpServer: string;
  /** For all users. */
  mcpOffer: string;
  /** A conversation whose response waits for the approval of a tool, and the question. */
  askedChat: string;
  approval: string;
  question: string;
  /** A session other than the one that calls. */
  session: string;
  /** An access token. */
  token: string;
  /** An identity at an identity provider, besides a password. */
  identity: string;
  /** A project that the records' user owns, and the id of another member of it. */
  project: string;
  member: string;
  /** Private to their creator. */
  assistant: string;
  prompt: string;
  skill: string;
  /** Read and not yet started. */
  import: string;
  /** A user whom administrators manage, their records, and an invitation. */
  person: string;
  personProvider: string;
  personModel: string;
  invitation: string;
  /** A share of `chat`. */
  share: string;
};
export type RecordKind = keyof Records;
/** The records of an actor; the token is not an id. */
type OwnRecords = Records & { invitationToken: string; shareToken: string };

export type Actor = {
  kind: ActorKind;
  id: string;
  email: string;
  cookie: string | undefined;
  /** The headers with which this kind of caller authenticates. */
  credentials: Record<string, string>;
  records: OwnRecords;
  /** More records of the same user, in another conversation, if they were requested. */
  elsewhere: Records | undefined;
};

type MakeRequest = (own: Actor) => unknown;
type Needed = Pick<Set<string>, 'has'>;
const everything: Needed = { has: () => true };

export type World = {
  edition: 'community' | 'managed';
  app: TestApp;
  provider: FakeProvider;
  mcp: FakeMcp;
  /** With all records, or, as that takes long, with those of them that `requests` read. */
  makeActor(kind: ActorKind, options?: { withElsewhere?: boolean; requests?: MakeRequest[] }): Promise<Actor>;
  /** Records that no actor made by `makeActor` may touch. */
  makeForeignRecords(): Promise<Records>;
  /**
   * Frees places: a catalogue holds a limited number of providers, and the managed edition has one catalogue. The same
   * applies to offers.
   */
  clearCatalogues(): Promise<void>;
  /** Changes whenever any row of any table does. */
  digest(): Promise<string>;
  stop(): Promise<void>;
};

export const actorPassword = 'correct horse 1';
const isWorkspace = (kind: ActorKind) => /workspace/.test(kind);
const passwordHash = hashPassword(actorPassword);
const never = 2_000_000_000;

/** An application of one edition on a database of its own, with a provider that answers. It runs no background work. */
export async function makeWorld(edition: World['edition'], webFolder?: string): Promise<World> {
  const dataDir = await mkdtemp(join(tmpdir(), 'homeport-world-'));
  const provider = await startFakeProvider();
  const mcp = await startFakeMcp();
  const app = await startTestApp({
    config: { edition, dataDir },
    timings: { dispatchMs: never, sweepMs: never, heartbeatMs: never },
    workspaceRuntime: noWorkspaceStarts(),
    workspaceTimings: { sweepMs: never / 2, watchMs: never / 2 },
    ...(webFolder === undefined ? {} : { webFolder }),
  });
  const { database } = app.database;
  await database.pool.query(`update settings set sharing = 'public'`);
  const catalogue = { db: database, secrets: app.service.deps.secrets, clock: systemClock };

  /** The records of `needed`, and their dependencies; reading any other fails. */
  async function makeRecords(userId: string, catalogueOwner: string, needed: Needed): Promise<OwnRecords> {
    const needs = (...kinds: (keyof OwnRecords)[]) => kinds.some((kind) => needed.has(kind));
    const made: Partial<OwnRecords> = {};
    const providerId = await makeProvider(catalogue, catalogueOwner, { baseUrl: provider.url, apiKey: 'sk-matrix' });
    const model = await makeModel(catalogue, catalogueOwner, providerId, { providerModelId: 'echo', tier: 1 });
    Object.assign(made, { provider: providerId, model });
    if (needs('chat', 'message', 'answer', 'summary', 'input', 'artifact', 'share', 'shareToken')) {
      const conversation = await makeConversation(userId);
      Object.assign(made, conversation);
      if (needs('artifact', 'shareToken')) made.artifact = await storeFile(userId, conversation.chat);
      if (needs('share', 'shareToken')) Object.assign(made, await makeShare(userId, made.artifact, conversation));
    }
    if (needs('identity')) made.identity = await addIdentity(userId);
    if (needs('token')) made.token = await addToken(userId);
    if (needs('session')) made.session = (await openSession(userId)).id;
    if (needs('project', 'member')) {
      const other = await makeUser({});
      const { id: project } = await createProject({ db: database }, userId, 'Project', operator);
      await putMember({ db: database }, userId, { projectId: project, email: other.email, role: 'member' }, operator);
      Object.assign(made, { project, member: other.id });
    }
    if (needs('mcpServer')) made.mcpServer = await makeMcpServer(userId);
    if (needs('mcpOffer')) made.mcpOffer = await makeMcpOffer();
    if (needs('askedChat', 'approval', 'question')) Object.assign(made, await makeQuestion(userId));
    if (needs('assistant', 'prompt', 'skill')) Object.assign(made, await makeSaved(userId));
    if (needs('import')) made.import = await makeImport(userId);
    if (needs('person', 'personProvider', 'personModel', 'invitation', 'invitationToken'))
      Object.assign(made, await makePerson(userId));
    return allOf(made);
  }

  async function addToken(userId: string): Promise<string> {
    const input = { name: 'Token', scopes: ['models' as const], expiresAt: null };
    const owner = { id: userId, role: 'user' as const };
    return (await createToken({ db: database, clock: systemClock }, owner, input, operator)).token.id;
  }

  async function addIdentity(userId: string): Promise<string> {
    const id = randomUUIDv7();
    await database.pool.query(
      `insert into credentials (id, user_id, account_id, provider_id) values ($1, $2, $3, 'oidc')`,
      [id, userId, `https://id.example.org#${id}`],
    );
    return id;
  }

  async function makeConversation(userId: string) {
    const chat = await makeChat(database, userId);
    const message = await say(database, { chatId: chat, parentId: null, text: 'A question' });
    const answered = await answer(database, { chatId: chat, parentId: message, text: 'An answer' });
    await addPromptContext(database, { messageId: answered, ownerId: userId, chatId: chat });
    const summary = randomUUIDv7();
    await database.pool.query(
      `insert into summaries (id, chat_id, up_to_message_id, kind, text) values ($1, $2, $3, 'summary', 'A summary')`,
      [summary, chat, answered],
    );
    const input = await queueInput(database, { id: chat, ownerId: userId }, 'Later');
    await database.pool.query(`update inputs set start_after = now() + interval '1 day' where id = $1`, [input]);
    return { chat, message, answer: answered, summary, input };
  }

  async function makeQuestion(userId: string): Promise<{ askedChat: string; approval: string; question: string }> {
    const askedChat = await makeChat(database, userId);
    const messageId = await say(database, { chatId: askedChat, parentId: null, text: 'Do it' });
    const approval = randomUUIDv7();
    const response = randomUUIDv7();
    await database.pool.query(
      `insert into responses (id, chat_id, message_id, owner_id, state, replica, lease_until, decision)
       values ($1, $2, $3, $4, 'running', 'elsewhere', now() + interval '1 day', '{}')`,
      [response, askedChat, messageId, userId],
    );
    await database.pool.query(
      `insert into tool_approvals (id, response_id, chat_id, tool_call_id, tool_name) values ($1, $2, $3, 'call', 'tool')`,
      [approval, response, askedChat],
    );
    const question = randomUUIDv7();
    await database.pool.query(
      `insert into tool_approvals (id, response_id, chat_id, tool_call_id, tool_name, questions) values ($1, $2, $3, 'call2', 'ask', $4)`,
      [question, response, askedChat, JSON.stringify([{ question: 'Really?', options: [], multiple: false }])],
    );
    return { askedChat, approval, question };
  }

  async function makeSaved(userId: string): Promise<{ assistant: string; prompt: string; skill: string }> {
    const maker = { id: userId, role: 'user' } as const;
    const deps = { db: database, config: { edition } };
    const assistant = await createAssistant(deps, maker, { name: 'Assistant' }, operator);
    const prompt = await createPrompt(deps, maker, { name: randomUUIDv7(), text: 'Text' }, operator);
    const file = `---\nname: ${randomUUIDv7()}\ndescription: Skill.\n---\nText`;
    const skill = await createSkill(deps, maker, {}, await readSkillPackage(Buffer.from(file)), operator);
    return { assistant: assistant.id, prompt: prompt.id, skill: skill.id };
  }

  async function makeImport(userId: string): Promise<string> {
    const id = randomUUIDv7();
    await database.pool.query(
      `insert into imports (id, owner_id, state, is_wanted, size) values ($1, $2, 'ready', false, 0)`,
      [id, userId],
    );
    return id;
  }

  async function makeMcpServer(userId: string): Promise<string> {
    const id = randomUUIDv7();
    await database.pool.query(
      `insert into mcp_servers (id, owner_id, name, url, transport, tools, fingerprint) values ($1, $2, 'Fake', $3, 'http', $4, $5)`,
      [id, userId, mcp.url, JSON.stringify([echoTool]), expectedFingerprint([echoTool])],
    );
    return id;
  }

  async function makeMcpOffer(): Promise<string> {
    const id = randomUUIDv7();
    await database.pool.query(`insert into mcp_offers (id, name, url, transport) values ($1, $1, $2, 'http')`, [
      id,
      mcp.url,
    ]);
    return id;
  }

  async function storeFile(userId: string, chatId: string): Promise<string> {
    const { deps } = app.service;
    const stored = await deps.artifactStore.put(Readable.from([Buffer.from('A file')]));
    const upload = { scope: { chatId }, path: 'file.txt', filename: undefined, mediaType: 'text/plain' };
    return (await createArtifact(deps, userId, upload, stored)).id;
  }

  async function makeShare(userId: string, artifactId: string | undefined, { chat, answer }: Record<string, string>) {
    const id = randomUUIDv7();
    const token = `share-${id}`;
    await database.pool.query(
      `insert into shares (id, owner_id, token_hash, chat_id, leaf_message_id, title, audience, include)
       values ($1, $2, $3, $4, $5, 'Title', 'link', $6)`,
      [
        id,
        userId,
        shareTokenHash(token),
        chat,
        answer,
        '{"reasoning":false,"tools":false,"files":false,"author":false}',
      ],
    );
    await database.pool.query(
      `insert into share_files (share_id, n, artifact_id, sha256, size, media_type, filename)
       select $1, 0, id, sha256, size, media_type, 'file.txt' from artifacts where id = $2`,
      [id, artifactId],
    );
    return { share: id, shareToken: token };
  }

  async function makePerson(administratorId: string) {
    const { id: person } = await makeUser({});
    const personProvider = await makeProvider(catalogue, person, { baseUrl: provider.url, apiKey: 'sk-person' });
    const personModel = await makeModel(catalogue, person, personProvider, { providerModelId: 'echo', tier: 1 });
    const { invitation, token } = await createInvitation(
      { db: database, clock: systemClock, config: { edition } },
      { email: `${randomUUIDv7()}@example.org` },
      administratorId,
      operator,
    );
    return { person, personProvider, personModel, invitation: invitation.id, invitationToken: token };
  }

  function openSession(userId: string, age = 0): Promise<{ id: string; token: string }> {
    return insertSession(database.kysely, userId, { address: '127.0.0.1', userAgent: 'test' }, Date.now() - age);
  }

  /** A row as after a start. A stop removes the token; here the row keeps it, so that only the phase counts. */
  async function makeWorkspace(userId: string, kind: ActorKind, token: string): Promise<void> {
    const phase = kind === 'stopped workspace' ? 'stopped' : 'running';
    await database.pool.query(
      `insert into workspaces (user_id, phase, generation, runtime, key_id, token_hash, started_at) values ($1, $2, 1, 'docker', 'key', $3, now())`,
      [userId, phase, workspaceTokenHash(token)],
    );
  }

  async function makeUser(fields: Partial<NewUser>) {
    const email = `${randomUUIDv7()}@example.org`;
    const user = await insertUser(database.kysely, { name: 'Someone', role: 'user', ...fields, email });
    await insertPassword(database.kysely, user.id, await passwordHash);
    return user;
  }

  let tables: string[] | undefined;
  async function tableNames(): Promise<string[]> {
    const { rows } = await database.pool.query<{ name: string }>(
      `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public' order by 1`,
    );
    return rows.map(({ name }) => name);
  }

  return {
    edition,
    app,
    provider,
    mcp,
    async makeActor(kind, { withElsewhere = false, requests = [] } = {}) {
      const user = await makeUser(fieldsOf(kind));
      const catalogueOwner = edition === 'managed' ? installationOwner : user.id;
      const needed = requests.length === 0 ? everything : recordsIn(kind, requests);
      const elsewhere = withElsewhere ? await makeRecords(user.id, catalogueOwner, needed) : undefined;
      const records = await makeRecords(user.id, catalogueOwner, needed);
      const { token } = await openSession(user.id, kind === 'expired session' ? 8 * 86_400_000 : 0);
      const workspaceToken = newWorkspaceToken();
      if (isWorkspace(kind)) await makeWorkspace(user.id, kind, workspaceToken);
      if (kind === 'disabled' || kind === 'workspace of a disabled account')
        await setUserEnabled({ db: database }, user.id, false);
      const [pair = ''] = sessionCookie(cookieRule(testConfig), token).split(';');
      const cookie = cookieOf(kind, pair);
      const credentials: Record<string, string> = isWorkspace(kind)
        ? { authorization: `Bearer ${workspaceToken}` }
        : cookie === undefined
          ? {}
          : { cookie };
      return { kind, id: user.id, email: user.email, cookie, credentials, records, elsewhere };
    },
    async makeForeignRecords() {
      const user = await makeUser({});
      return makeRecords(user.id, user.id, everything);
    },
    async clearCatalogues() {
      await database.pool.query('delete from providers');
      await database.pool.query('delete from mcp_offers');
    },
    async digest() {
      // Work that earlier requests began in the background has ended: starts of workspaces fail here.
      const busy =
        'select user_id from workspaces where op_owner is not null union all select user_id from workspace_leases' +
        " union all select id from imports where state in ('reading', 'importing')";
      await until('nothing is under way', async () => (await database.pool.query(busy)).rowCount === 0);
      // A new or changed row has a later transaction than all before it, a deleted one is missing in the count.
      tables ??= await tableNames();
      const counts = tables.map((name) => `select count(*) || ' ' || max(xmin::text::bigint) as rows from ${name}`);
      const text = counts.join(' union all ');
      const found = await database.pool.query<{ rows: string | null }>({ name: 'digest', text });
      return tables.map((name, index) => `${name} ${found.rows[index]?.rows}`).join('\n');
    },
    async stop() {
      await app.stop();
      await provider.close();
      await mcp.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The caller's own records that these requests name. */
function recordsIn(kind: ActorKind, requests: MakeRequest[]): Needed {
  const read = new Set<string>();
  const records = new Proxy<object>({}, { get: (_, name) => read.add(String(name)) && 'some-record' }) as OwnRecords;
  const caller = { kind, id: 'somebody', email: 'somebody@example.org', cookie: undefined, credentials: {} };
  for (const make of requests) make({ ...caller, records, elsewhere: undefined });
  return read;
}

/** Reading a record that was not requested is an error of the test, not an undefined id. */
function allOf(made: Partial<OwnRecords>): OwnRecords {
  return new Proxy(made, {
    get(target, name) {
      // Awaiting an object reads its `then`.
      if (typeof name === 'string' && name !== 'then' && !(name in target))
        throw new Error(`No ${name} was made for this caller`);
      return Reflect.get(target, name);
    },
  }) as OwnRecords;
}

/** Tokens are known here, and nothing is ever started. */
function noWorkspaceStarts(): ScriptedRuntime {
  const runtime = new ScriptedRuntime();
  runtime.onStart = async () => {
    throw new RuntimeFailure('Workspaces do not start here');
  };
  return runtime;
}

function fieldsOf(kind: ActorKind): Partial<NewUser> {
  return {
    role: kind === 'administrator' ? 'admin' : 'user',
    mustChangePassword: kind === 'must change password' || kind === 'workspace of a password to change',
    // An administrator keeps provider access regardless of the switch.
    mcpSettingsEnabled: kind !== 'without MCP rights' && kind !== 'administrator',
    providerSettingsEnabled: kind !== 'without provider rights' && kind !== 'administrator',
  };
}

function cookieOf(kind: ActorKind, pair: string): string | undefined {
  if (kind === 'nobody' || isWorkspace(kind)) return undefined;
  if (kind !== 'tampered cookie') return pair;
  const at = pair.indexOf('=') + 3;
  return `${pair.slice(0, at)}${pair[at] === 'A' ? 'B' : 'A'}${pair.slice(at + 1)}`;
}
