import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { Frame } from '@homeport/contracts/chat/frames';
import { createMessageAssembler } from '@homeport/contracts/chat/message-assembly';
import { until } from '../../../contracts/test/until.ts';
import type { Json, SignedIn, TestApp } from '../app.ts';
import type { FakeProvider } from '../fakes/provider/provider.ts';

/** Helpers of chat tests: a user with a provider and models, submitting, and reading streams. */

export type StreamedFrame = { id: number; frame: Frame };
export type Collected = { frames: StreamedFrame[]; done: boolean; status: number; text: string; body: Json };

let counter = 0;
export function nextId(prefix: string): string {
  counter += 1;
  return `${prefix}-${process.pid}-${Date.now()}-${counter}`;
}

/** A provider that points at the fake, and one model per id; the first becomes the default. */
export async function addModels(
  user: SignedIn,
  provider: FakeProvider,
  modelIds: readonly string[],
  kind: ProviderKind = 'openai',
): Promise<string[]> {
  const { body } = await user.call('POST /api/providers', {
    name: 'Fake',
    kind,
    baseUrl: provider.url,
    apiKey: 'sk-test-key',
  });
  const ids: string[] = [];
  for (const providerModelId of modelIds) {
    const answer = await user.call('POST /api/models', {
      providerId: body.provider.id,
      providerModelId,
      displayName: providerModelId,
      contextWindow: 100_000,
      maxOutputTokens: 4_000,
      tier: 1,
    });
    ids.push(answer.body.model.id);
  }
  return ids;
}

export async function createChat(user: SignedIn): Promise<string> {
  const { body } = await user.call('POST /api/chats', {});
  return body.chat.id;
}

export function submission(chatId: string, text: string, extra: object = {}, id = nextId('m')) {
  return { chatId, message: { id, parts: [{ type: 'text', text }] }, ...extra };
}

/** Submits by chat/start and returns the message id. */
export async function submit(user: SignedIn, chatId: string, text: string, extra: object = {}): Promise<string> {
  const answer = await user.call('POST /api/chat/start', submission(chatId, text, extra));
  if (answer.status !== 201) throw new Error(`chat/start answered ${answer.status}: ${answer.text}`);
  return answer.body.messageId;
}

/** Lets the lease of a conversation's responses expire, as if it were not renewed. */
export async function passLease({ database }: Pick<TestApp, 'database'>, chatId: string): Promise<void> {
  await database.database.pool.query(
    `update responses set lease_until = now() - interval '1 second' where chat_id = $1`,
    [chatId],
  );
}

/** Waits until a frame with the text is stored of a conversation's response. */
export async function untilStored(
  { database }: Pick<TestApp, 'database'>,
  chatId: string,
  text: string,
): Promise<void> {
  const stored = `select from responses r join response_frames f on f.response_id = r.id
    where r.chat_id = $1 and strpos(f.frames, $2) > 0`;
  await until(`${text} is stored`, async () => {
    const { rowCount } = await database.database.pool.query(stored, [chatId, text]);
    return rowCount !== 0;
  });
}

/** Reads a response stream; `until` disconnects early by closing the connection. */
export async function readStream(
  response: Response,
  until: (frame: StreamedFrame) => boolean = () => false,
): Promise<Collected> {
  const collected: Collected = { frames: [], done: false, status: response.status, text: '', body: undefined };
  if (response.body === null || !(response.headers.get('content-type') ?? '').startsWith('text/event-stream')) {
    const text = await response.text();
    collected.body = text === '' ? undefined : JSON.parse(text);
    return collected;
  }
  const decoder = new TextDecoder();
  let buffer = '';
  try {
    for await (const chunk of response.body) {
      buffer += decoder.decode(chunk, { stream: true });
      for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
        const event = buffer.slice(0, end);
        buffer = buffer.slice(end + 2);
        if (take(event, collected, until)) return collected;
      }
    }
  } catch (error) {
    if (collected.frames.length === 0) throw error;
  }
  return collected;
}

function take(event: string, collected: Collected, until: (frame: StreamedFrame) => boolean): boolean {
  const data = /^data: (.*)$/m.exec(event)?.[1];
  if (data === undefined) return false;
  if (data === '[DONE]') {
    collected.done = true;
    return false;
  }
  const streamed: StreamedFrame = { id: Number(/^id: (\d+)$/m.exec(event)?.[1]), frame: JSON.parse(data) };
  collected.frames.push(streamed);
  if (streamed.frame.type === 'text-delta') collected.text += streamed.frame.delta;
  return until(streamed);
}

/** Starts or joins the response and reads it to its end. */
export async function answer(
  user: SignedIn,
  chatId: string,
  messageId: string,
  extra: object = {},
): Promise<Collected> {
  return readStream(await postChat(user, { chatId, messageId, ...extra }));
}

export function postChat(user: SignedIn, body: object, init: RequestInit = {}): Promise<Response> {
  return user.fetch('/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...init,
  });
}

export function partsOf(frames: readonly StreamedFrame[]) {
  const assembler = createMessageAssembler();
  for (const { frame } of frames) assembler.apply(frame);
  return assembler.parts;
}

export async function chatDetail(user: SignedIn, chatId: string): Promise<Json> {
  return (await user.call('GET /api/chats', undefined, { query: { id: chatId } })).body;
}

export async function idle(app: TestApp): Promise<void> {
  await until(async () => app.service.deps.responses.size === 0);
}
