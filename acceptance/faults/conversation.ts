import { type ProviderKind, providerKinds } from '@homeport/contracts/catalogue/provider-kinds';
import { until } from '../../contracts/test/until.ts';
import { addModels, type Caller, type Json, pause, type Running } from '../product.ts';

/** Checks of fault tests: conversations from the API, and requests received by the scripted provider. */

export type SeenRequest = {
  kind: ProviderKind;
  model: string;
  lastText: string;
  aborted: boolean;
  closed: boolean;
};

export async function providerRequests(provider: Running): Promise<SeenRequest[]> {
  return JSON.parse(await (await fetch(new URL('/requests', provider.url))).text());
}

/** The text that an event of each protocol brings. */
const textIn: Record<ProviderKind, (event: Json) => string | undefined> = {
  openai: (event) => event.choices[0]?.delta.content,
  'openai-responses': ({ type, delta }) => (type === 'response.output_text.delta' ? delta : ''),
  anthropic: ({ delta }) => (delta?.type === 'text_delta' ? delta.text : ''),
  gemini: (event) => event.candidates?.[0]?.content.parts?.[0]?.text,
};

/** The text so far in the provider's `index`-th answer, read from the bytes it sent. */
export async function sentText(provider: Running, kind: ProviderKind, index: number): Promise<string> {
  const body = await (await fetch(new URL(`/sent?index=${index}`, provider.url))).text();
  const events = [...body.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data));
  return events.map((event) => textIn[kind](event) ?? '').join('');
}

export type ModelOfKind = { kind: ProviderKind; id: string };

/** The same models in every protocol, by name; the first of `openai` is the default. */
export async function addEveryKind(
  caller: Caller,
  baseUrl: string,
  modelIds: readonly string[],
): Promise<(name: string, turn: number) => ModelOfKind> {
  const ids = new Map<string, string>();
  for (const kind of providerKinds) {
    const made = await addModels(caller, baseUrl, modelIds, kind);
    for (const [index, id] of made.entries()) ids.set(`${kind} ${modelIds[index]}`, id);
  }
  return (name, turn) => {
    const kind = kindOf(turn);
    const id = ids.get(`${kind} ${name}`);
    if (id === undefined) throw new Error(`There is no model ${name}`);
    return { kind, id };
  };
}

/** The kinds in turn. */
export function kindOf(turn: number): ProviderKind {
  return providerKinds[turn % providerKinds.length] ?? 'openai';
}

export async function createChat(caller: Caller): Promise<string> {
  return (await caller.must('POST', '/api/chats', {})).chat.id;
}

export function submission(chatId: string, id: string, text: string = id) {
  return { chatId, message: { id, parts: [{ type: 'text', text }] } };
}

/** Every message of a conversation, all branches. */
export async function allMessages(caller: Caller, chatId: string): Promise<Json[]> {
  const response = await caller.fetch(`/api/chats/export?id=${chatId}&format=json`);
  return JSON.parse(await response.text()).messages;
}

export function chatDetail(caller: Caller, chatId: string): Promise<Json> {
  return caller.must('GET', `/api/chats?id=${chatId}`);
}

export function textOf(message: Json): string {
  const texts = message.parts.filter((part: Json) => part.type === 'text').map((part: Json) => part.text);
  return texts.join('');
}

/** Starts or joins the response to an input, or whatever else the body requests. */
export function postChat(caller: Caller, body: object): Promise<Response> {
  return caller.fetch('/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Submits, begins the response without a stream, and resolves with its id. */
export async function startDetached(
  caller: Caller,
  chatId: string,
  messageId: string,
  extra: object = {},
): Promise<string> {
  await caller.must('POST', '/api/chat/start', { ...submission(chatId, messageId), ...extra });
  return (await caller.must('POST', '/api/chat', { chatId, messageId, detach: true })).assistantId;
}

/** Waits until the conversation has no running response and no queued input. */
export function settled(caller: Caller, chatId: string, withinMs = 60_000): Promise<Json> {
  const settledDetail = async () => {
    const detail = await chatDetail(caller, chatId);
    return detail.response === null && detail.inputs.length === 0 ? detail : undefined;
  };
  return until(`conversation ${chatId} settled`, settledDetail, withinMs);
}

/** Runs the work on all items, a limited number at a time. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** Releases answers that wait before their end, again and again, until the work is done. */
export async function releaseWhile<T>(
  provider: Running,
  work: Promise<T>,
  isDue: () => boolean = () => true,
): Promise<T> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  work.then(end, end);
  while (!isOver) {
    if (isDue()) await fetch(new URL('/release', provider.url), { method: 'POST' });
    await pause(100);
  }
  return work;
}
