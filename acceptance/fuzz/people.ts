import { randomUUID } from 'node:crypto';
import { addUsers } from '../database.ts';
import { addModels, administrator, Caller, type Json, type Running, setUp } from '../product.ts';

/** Several signed-in people, and the ids that each of them has come to know. */

const kinds = ['provider', 'model', 'chat', 'message', 'answer', 'input', 'session'] as const;
type Kind = (typeof kinds)[number];
const remembered = 20;
/** Where sign-ins of the test itself come from, so that refused sign-ins of the fuzz do not hold them up. */
const ownAddress = '203.0.113.7';

export class Person {
  readonly email: string;
  readonly caller: Caller;
  readonly ids: Record<Kind, string[]> = {
    ...{ provider: [], model: [], chat: [], message: [], answer: [], input: [], session: [] },
  };
  /** Inputs with the conversations they are in: ids that belong together. */
  readonly inputs: { chat: string; input: string }[] = [];
  #signingIn: Promise<void> | undefined;

  constructor(email: string, caller: Caller) {
    this.email = email;
    this.caller = caller;
  }

  submitted(chat: string, input: string): void {
    this.inputs.push({ chat, input });
    if (this.inputs.length > remembered) this.inputs.shift();
  }

  /** A new session; callers at the same time share it. */
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

  /** Remembers the ids of a successful answer. */
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
      note('provider', provider.id);
      for (const model of provider.models) note('model', model.id);
    }
    for (const chat of body.chats ?? []) note('chat', chat.id);
    for (const session of body.sessions ?? []) if (!session.current) note('session', session.id);
    for (const message of body.messages ?? []) note(message.role === 'user' ? 'message' : 'answer', message.id);
  }
}

/** The administrator and `others` more, each with models, conversations and messages. */
export async function makePeople(
  product: Running,
  dataDir: string,
  providerUrl: string,
  others: number,
): Promise<Person[]> {
  const first = new Person(administrator.email, await setUp(product.url));
  const emails = Array.from({ length: others }, (_, index) => `person${index}@example.org`);
  await addUsers(dataDir, emails);
  const people = [first, ...emails.map((email) => new Person(email, new Caller(product.url, '')))];
  for (const person of people) {
    await person.signIn();
    await addModels(person.caller, providerUrl, ['echo', 'words-20', 'error-500', 'stream-error']);
    await refresh(person, providerUrl);
  }
  return people;
}

/** Gives somebody records that are still there, after others were deleted; what no longer fits is left out. */
export async function refresh(person: Person, providerUrl: string): Promise<void> {
  const { caller } = person;
  person.inputs.length = 0;
  const tried = await caller.call('GET', '/api/providers');
  if (tried.status === 401) await person.signIn();
  await addModels(caller, providerUrl, ['echo']).catch(() => undefined);
  for (let index = 0; index < 5; index += 1) {
    const { chat } = await caller.must('POST', '/api/chats', { title: 'A conversation' });
    const message = { id: randomUUID(), parts: [{ type: 'text', text: 'Hello' }] };
    person.learn({ chat });
    person.learn(await caller.must('POST', '/api/chat/start', { chatId: chat.id, message }));
    person.submitted(chat.id, message.id);
  }
  person.learn(await caller.must('GET', '/api/providers'));
}

const selfKinds: [pattern: RegExp, kind: Kind][] = [
  [/\/providers/, 'provider'],
  [/\/models/, 'model'],
  [/\/chats/, 'chat'],
  [/\/turn-inputs/, 'input'],
  [/\/sessions/, 'session'],
];

/** Puts real ids where marks stand: mostly the sender's own of the right kind, sometimes anybody's of any kind. */
export function placeIds(text: string, target: string, sender: Person | undefined, people: readonly Person[]): string {
  const pair = sender?.inputs[Math.floor(text.length / 2) % Math.max(1, sender.inputs.length)];
  return text.replace(/(?:@|%40)id(?::|%3A)(\w+)(?::|%3A)(\d+)(?:@|%40)/g, (_, name: string, digits: string) => {
    const n = Number(digits);
    const wanted = name === 'self' ? selfKinds.find(([pattern]) => pattern.test(target))?.[1] : kindNamed(name);
    if (pair !== undefined && text.length % 2 === 0) {
      if (wanted === 'chat') return pair.chat;
      if (wanted === 'input' || wanted === 'message') return pair.input;
    }
    const own = wanted === undefined ? [] : (sender?.ids[wanted] ?? []);
    if (n % 5 !== 0 && own.length > 0) return own[n % own.length] ?? '';
    const anybody = people[n % people.length]?.ids[kinds[n % kinds.length] ?? 'chat'] ?? [];
    return anybody[n % Math.max(1, anybody.length)] ?? `unknown-${n}`;
  });
}

function kindNamed(name: string): Kind | undefined {
  return kinds.find((kind) => kind === name);
}
