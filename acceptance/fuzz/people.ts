import { randomUUID } from 'node:crypto';
import { addUsers } from '../database.ts';
import { addModels, administrator, Caller, type Json, type Running, setUp } from '../product.ts';

/** Several signed-in people, and the ids that each of them has received. */

const kinds = [
  ...(['provider', 'model', 'chat', 'message', 'answer', 'input', 'session', 'server', 'offer', 'project'] as const),
  /** `user` are the people of the test and members of projects, `account` are accounts without a signed-in person. */
  ...(['artifact', 'user', 'account', 'invitation', 'token', 'path', 'assistant', 'prompt', 'skill'] as const),
  'import' as const,
];
type Kind = (typeof kinds)[number];
/** Ids that belong together, such as an input and its conversation. */
type Link = Partial<Record<Kind, string>>;
const remembered = 20;
/** Kinds of records that are listed again periodically, since many of them get deleted. */
const renewed = [
  ...(['provider', 'model', 'chat', 'message', 'answer', 'input', 'server', 'offer', 'project', 'artifact'] as const),
  ...(['assistant', 'prompt', 'skill'] as const),
] as const;
const wantedServers = 6;
/** Paths for files to write and read. */
const filePaths = ['notes.txt', 'folder/table.csv', 'folder/deep/page.html'];
/** Client address of the test's own sign-ins, so that refused sign-ins of the fuzzer do not delay them. */
const ownAddress = '203.0.113.7';

export class Person {
  readonly email: string;
  readonly caller: Caller;
  id = '';
  readonly ids: Record<Kind, string[]> = {
    provider: [],
    model: [],
    chat: [],
    message: [],
    answer: [],
    input: [],
    session: [],
    server: [],
    project: [],
    artifact: [],
    user: [],
    account: [],
    invitation: [],
    token: [],
    path: filePaths,
    assistant: [],
    prompt: [],
    import: [],
    offer: [],
    skill: [],
  };
  readonly links: Link[] = [];
  #signingIn: Promise<void> | undefined;

  constructor(email: string, caller: Caller) {
    this.email = email;
    this.caller = caller;
  }

  submitted(chat: string, input: string): void {
    this.#link({ chat, input, message: input });
  }

  #link(link: Link): void {
    this.links.push(link);
    if (this.links.length > 4 * remembered) this.links.shift();
  }

  /** A new session; simultaneous callers share it. */
  signIn(): Promise<void> {
    this.#signingIn ??= this.#signIn().finally(() => {
      this.#signingIn = undefined;
    });
    return this.#signingIn;
  }

  async #signIn(): Promise<void> {
    const response = await fetch(`${this.caller.url}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': ownAddress },
      body: JSON.stringify({ email: this.email, password: administrator.password }),
    });
    if (!response.ok) throw new Error(`Signing in answered ${response.status}: ${await response.text()}`);
    this.caller.cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  }

  /** Deleted records are gone. */
  forget(id: string): void {
    for (const list of Object.values(this.ids)) if (list.includes(id)) list.splice(list.indexOf(id), 1);
  }

  /** Remembers the ids in a successful response. */
  learn(body: Json): void {
    const note = (kind: Kind, id: unknown): void => {
      const list = this.ids[kind];
      if (typeof id !== 'string' || list.includes(id)) return;
      list.push(id);
      if (list.length > remembered) list.shift();
    };
    if (typeof body !== 'object' || body === null) return;
    note('provider', body.provider?.id);
    note('model', body.model?.id);
    note('chat', body.chat?.id);
    note('message', body.messageId);
    if (typeof body.input?.id === 'string') this.submitted(body.input.chatId, body.input.id);
    note('input', body.input?.id);
    note('message', body.input?.id);
    note('answer', body.assistantId);
    for (const provider of body.providers ?? []) {
      if (!provider.canEdit) continue;
      note('provider', provider.id);
      for (const model of provider.models) note('model', model.id);
    }
    for (const chat of body.chats ?? []) note('chat', chat.id);
    for (const session of body.sessions ?? []) if (!session.current) note('session', session.id);
    note('server', body.server?.id);
    for (const offer of [body.offer ?? [], body.offers ?? []].flat()) note('offer', offer.id);
    note('assistant', body.assistant?.id);
    for (const assistant of body.assistants ?? []) if (assistant.canEdit) note('assistant', assistant.id);
    note('import', body.import?.id);
    note('prompt', body.prompt?.id);
    for (const prompt of body.prompts ?? []) if (prompt.canEdit) note('prompt', prompt.id);
    note('skill', body.skill?.id);
    for (const skill of body.skills ?? []) if (skill.canEdit) note('skill', skill.id);
    for (const server of body.servers ?? []) note('server', server.id);
    note('invitation', body.invitation?.id);
    note('token', body.token);
    if (body.user?.hasPassword !== undefined) note('account', body.user.id);
    for (const project of [body.project ?? [], body.projects ?? []].flat()) {
      if (project.role !== 'owner') continue;
      note('project', project.id);
      for (const { userId } of project.members)
        if (userId !== this.id) this.#link({ project: project.id, user: userId });
    }
    for (const { id, path, namespace } of [body.artifact ?? [], body.artifacts ?? []].flat()) {
      note('artifact', id);
      this.#link({ [namespace.type]: namespace.id, artifact: id, ...(/^[\w./-]+$/.test(path) ? { path } : {}) });
    }
    for (const message of body.messages ?? []) note(message.role === 'user' ? 'message' : 'answer', message.id);
  }
}

/** Outside servers of this test. */
export type Outside = { providerUrl: string; mcpUrl: string };

/** The administrator and `others` more, each with at least one record of everything. */
export async function makePeople(
  product: Running,
  dataDir: string,
  outside: Outside,
  others: number,
): Promise<Person[]> {
  const first = new Person(administrator.email, await setUp(product.url));
  const emails = Array.from({ length: others }, (_, index) => `person${index}@example.org`);
  await addUsers(dataDir, emails);
  const people = [first, ...emails.map((email) => new Person(email, new Caller(product.url, '')))];
  for (const person of people) {
    await person.signIn();
    person.id = (await person.caller.must('GET', '/api/me')).user.id;
    person.ids.user.push(person.id);
    await addModels(person.caller, outside.providerUrl, ['echo', 'words-20', 'error-500', 'stream-error']);
    await refresh(person, outside);
  }
  return people;
}

/** Gives a person new records after others were deleted; records that exceed a limit are left out. */
export async function refresh(person: Person, outside: Outside): Promise<void> {
  const { caller } = person;
  person.links.length = 0;
  for (const kind of renewed) person.ids[kind].length = 0;
  const tried = await caller.call('GET', '/api/providers');
  if (tried.status === 401) await person.signIn();
  await addModels(caller, outside.providerUrl, ['echo']).catch(() => undefined);
  for (let index = 0; index < 5; index += 1) {
    const { chat } = await caller.must('POST', '/api/chats', { title: 'A conversation' });
    const message = { id: randomUUID(), parts: [{ type: 'text', text: 'Hello' }] };
    person.learn({ chat });
    person.learn(await caller.must('POST', '/api/chat/start', { chatId: chat.id, message }));
    person.submitted(chat.id, message.id);
    await addFile(person, 'chatId', chat.id, filePaths[index % filePaths.length] ?? '');
  }
  person.learn(await caller.must('GET', '/api/providers'));
  for (let index = 0; index < 3; index += 1) {
    person.learn((await caller.call('POST', '/api/assistants', { name: 'An assistant' })).body);
    const prompt = { name: `prompt-${randomUUID()}`, title: 'A prompt', text: 'Hello' };
    person.learn((await caller.call('POST', '/api/prompts', prompt)).body);
    await addSkill(person);
  }
  await addProject(person);
  await addServers(person, outside.mcpUrl);
  // Refused for all people except the administrator.
  const offer = { name: `offer-${randomUUID()}`, url: outside.mcpUrl };
  person.learn((await caller.call('POST', '/api/admin/mcp/offers', offer)).body);
  person.learn((await caller.call('POST', '/api/invitations', { email: `${randomUUID()}@example.org` })).body);
  const account = { name: 'Somebody', email: `${randomUUID()}@example.org` };
  person.learn((await caller.call('POST', '/api/admin/users', account)).body);
}

async function addProject(person: Person): Promise<void> {
  const { project } = await person.caller.must('POST', '/api/projects', { name: 'A project' });
  person.learn({ project });
  const member = { projectId: project.id, email: memberEmail, role: 'member' };
  if (person.email !== memberEmail) person.learn(await person.caller.must('POST', '/api/projects/members', member));
  for (const path of filePaths) await addFile(person, 'projectId', project.id, path);
}

async function addServers(person: Person, url: string): Promise<void> {
  const { servers } = await person.caller.must('GET', '/api/mcp');
  person.learn({ servers });
  for (let count = servers.length; count < wantedServers; count += 1) {
    person.learn((await person.caller.call('POST', '/api/mcp', { name: 'Tools', url })).body);
  }
}

async function addFile(person: Person, scope: 'chatId' | 'projectId', id: string, path: string): Promise<void> {
  const form = new FormData();
  form.set(scope, id);
  form.set('path', path);
  form.set('file', new Blob(['one,two\n1,2\n']), 'a.csv');
  const response = await person.caller.fetch('/api/artifacts', { method: 'POST', body: form });
  if (response.status !== 201) throw new Error(`Uploading answered ${response.status}: ${await response.text()}`);
  person.learn(await response.json());
}

async function addSkill(person: Person): Promise<void> {
  const form = new FormData();
  form.set('file', new Blob([`---\nname: skill-${randomUUID()}\ndescription: A skill.\n---\nText`]), 'SKILL.md');
  const response = await person.caller.fetch('/api/skills', { method: 'POST', body: form });
  person.learn(await response.json());
}

const memberEmail = 'person0@example.org';

const selfKinds: [pattern: RegExp, kind: Kind][] = [
  [/\/providers/, 'provider'],
  [/\/models/, 'model'],
  [/\/chats/, 'chat'],
  [/\/turn-inputs/, 'input'],
  [/\/sessions/, 'session'],
  [/\/mcp\/offers/, 'offer'],
  [/\/mcp/, 'server'],
  [/\/projects/, 'project'],
  [/\/artifacts/, 'artifact'],
  [/\/invitations/, 'invitation'],
  [/\/assistants/, 'assistant'],
  [/\/imports/, 'import'],
  [/\/prompts/, 'prompt'],
  [/\/skills/, 'skill'],
];

const mark = /(?:@|%40)id(?::|%3A)(\w+)(?::|%3A)(\d+)(?:@|%40)/g;
const emailMark = /(?:@|%40)email(?::|%3A)(\d+)(?:@|%40)/g;

/** The person a request concerns: the one named by an administrator, else the sender. `target` still has its marks. */
export function subjectOf(target: string, sender: Person | undefined, people: readonly Person[]): Person | undefined {
  const digits = /^\/api\/admin\/.*[?&]userId=(?:@|%40)id(?::|%3A)\w+(?::|%3A)(\d+)/.exec(target)?.[1];
  return digits === undefined ? sender : people[1 + (Number(digits) % (people.length - 1))];
}

/** Puts real ids where marks stand: mostly the subject's own of the right kind, sometimes anybody's of any kind. */
export function placeIds(text: string, target: string, sender: Person | undefined, people: readonly Person[]): string {
  const subject = subjectOf(target, sender, people);
  const kindOf = (name: string): Kind | undefined =>
    name === 'self' ? selfKinds.find(([pattern]) => pattern.test(target))?.[1] : kinds.find((kind) => kind === name);
  const marks = [...text.matchAll(mark)];
  const wantedKinds = new Set(marks.map(([, name = '']) => kindOf(name)).filter((kind) => kind !== undefined));
  const chance = Number(marks[0]?.[2] ?? 0);
  const fitting = subject?.links.filter((link) => [...wantedKinds].filter((kind) => link[kind]).length > 1) ?? [];
  const link: Link = chance % 3 === 0 ? {} : (fitting[chance % Math.max(1, fitting.length)] ?? {});
  const withIds = text.replace(mark, (_, name: string, digits: string) => {
    const n = Number(digits);
    // The test's own accounts must not be changed, or it would lock itself out.
    const wanted = /^\/api\/admin\/users/.test(target) ? 'account' : kindOf(name);
    if (wanted === 'user' && subject !== sender && n % 5 !== 0) return subject?.id ?? '';
    const linked = wanted === undefined ? undefined : link[wanted];
    if (linked !== undefined) return linked;
    // Invited people have no account; they got the token from an administrator.
    const owner = wanted === 'token' ? people[0] : subject;
    const own = wanted === undefined ? [] : (owner?.ids[wanted] ?? []);
    if ((n % 5 !== 0 || wanted === 'account') && own.length > 0) return own[n % own.length] ?? '';
    if (wanted === 'account') return `unknown-${n}`;
    const anybody = people[n % people.length]?.ids[kinds[n % kinds.length] ?? 'chat'] ?? [];
    return anybody[n % Math.max(1, anybody.length)] ?? `unknown-${n}`;
  });
  return withIds.replace(emailMark, (_, digits: string) => emailFor(target, Number(digits), people));
}

/** Address for creating or changing accounts, never one of these people's. */
function emailFor(target: string, n: number, people: readonly Person[]): string {
  if (/^\/api\/auth\//.test(target)) return ['ada@example.org', 'nobody@example.org', 'Ada@EXAMPLE.org '][n % 3] ?? '';
  if (/^\/api\/projects/.test(target) && n % 4 !== 0) return people[n % people.length]?.email ?? '';
  return `nobody${n % 500}@example.org`;
}
