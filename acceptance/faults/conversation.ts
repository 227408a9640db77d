import { until } from '../../contracts/test/until.ts';
import { type Caller, type Json, pause, type Running } from '../product.ts';

/** What fault tests check: conversations as the API returns them, and requests as the scripted provider saw them. */

export type SeenRequest = { model: string; lastText: string; aborted: boolean; closed: boolean };

export async function providerRequests(provider: Running): Promise<SeenRequest[]> {
  return JSON.parse(await (await fetch(new URL('/requests', provider.url))).text());
}

/** The text so far in the provider's `index`-th answer, read from the bytes it sent. */
export async function sentText(provider: Running, index: number): Promise<string> {
  const body = await (await fetch(new URL(`/sent?index=${index}`, provider.url))).text();
  return body
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)).choices[0]?.delta.content ?? '')
    .join('');
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

/** Until nothing is running or queued in the conversation. */
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
