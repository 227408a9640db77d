import { randomBytes } from 'node:crypto';
import { Connection } from './connection.ts';
import { monotonicMs } from './monotonic.ts';
import { StreamReader, type TokenListener } from './stream-reader.ts';

/** Behavior of the provider for one answer; see provider.ts. */
export type Script = { tokens: number; perSecond: number; hold?: boolean };

/** One open answer. Times are milliseconds of the monotonic clock. */
export type OpenStream = {
  id: string;
  chatId: string;
  /** When `POST /api/chat/start` was sent; the product only. */
  admittedAt: number;
  /** When the request that streams was sent. */
  askedAt: number;
  /** Resolves with the time of the first token; rejects if none comes. */
  first: Promise<number>;
  /** Resolves with the number of tokens if the answer ended properly; rejects otherwise. */
  done: Promise<number>;
  close(): void;
};

type OpenOptions = { chatId?: string; modelId?: string };

/** Something that streams the provider's answers: the product, or P. */
export type Subject = {
  name: string;
  pid: number;
  /** `chatId` names a conversation; without it each stream has its own. */
  open(script: Script, onToken?: TokenListener, options?: OpenOptions): Promise<OpenStream>;
};

/** P, the provider itself, or /v1 of the product: one request, an answer as chunks of a chat completion. */
export function plainSubject(name: string, pid: number, port: number, nextToken?: () => string): Subject {
  return {
    name,
    pid,
    async open(script, onToken = () => undefined) {
      const id = newId();
      const connection = await Connection.open(port);
      const messages = [{ role: 'user', content: scriptText(id, script) }];
      const body = JSON.stringify({ model: 'bench', messages, stream: true });
      const identity = nextToken === undefined ? '' : { token: nextToken() };
      const text = connection.requestText('POST', '/v1/chat/completions', identity, body);
      return follow({ connection, text, form: 'plain', onToken, id, chatId: '', admittedAt: monotonicMs() });
    },
  };
}

/** The product: an admitted message, then the request that claims it and streams. */
export function productSubject(
  product: { pid: number; port: number; cookie: string },
  takeChat: () => Promise<string>,
): Subject {
  const { port, cookie, pid } = product;
  return {
    name: 'product',
    pid,
    async open(script, onToken = () => undefined, options = {}) {
      const id = newId();
      const chatId = options.chatId ?? (await takeChat());
      const connection = await Connection.open(port);
      const message = { id, parts: [{ type: 'text', text: scriptText(id, script) }] };
      const start = JSON.stringify({ chatId, message, modelId: options.modelId });
      const admittedAt = monotonicMs();
      const admitted = await connection.exchange(connection.requestText('POST', '/api/chat/start', cookie, start));
      if (admitted.status !== 201) {
        connection.close();
        throw new Error(`POST /api/chat/start answered ${admitted.status}: ${admitted.body.slice(0, 300)}`);
      }
      const body = JSON.stringify({ chatId, messageId: id });
      const text = connection.requestText('POST', '/api/chat', cookie, body);
      return follow({ connection, text, form: 'product', onToken, id, chatId, admittedAt });
    },
  };
}

const answerPatienceMs = 30_000;

function follow(options: {
  connection: Connection;
  text: string;
  form: 'product' | 'plain';
  onToken: TokenListener;
  id: string;
  chatId: string;
  admittedAt: number;
}): OpenStream {
  const { connection, id, chatId, admittedAt, onToken } = options;
  const first = Promise.withResolvers<number>();
  const done = Promise.withResolvers<number>();
  // A caller that does not wait for one of them learns of a failure from the other.
  first.promise.catch(() => undefined);
  done.promise.catch(() => undefined);
  let hasBegun = false;
  const patience = setTimeout(() => fail('No token came'), answerPatienceMs);
  const reader = new StreamReader(options.form, (latencyMs) => {
    if (!hasBegun) {
      hasBegun = true;
      clearTimeout(patience);
      first.resolve(monotonicMs());
    }
    onToken(latencyMs);
  });
  const fail = (reason: string): void => {
    clearTimeout(patience);
    const error = new Error(`${reason} (${options.form}, status ${reader.status}, ${reader.tokens} tokens)`);
    first.reject(error);
    done.reject(error);
    connection.close();
  };
  const askedAt = monotonicMs();
  connection.stream(options.text, {
    onData(data) {
      reader.read(data);
      if (reader.status !== 0 && reader.status !== 200) fail(`Not a stream: ${data.toString('utf8').slice(0, 400)}`);
      if (!reader.isDone) return;
      if (!hasBegun) return fail('The answer ended without a token');
      done.resolve(reader.tokens);
      connection.close();
    },
    onClose: () => fail('The connection was closed'),
  });
  return {
    id,
    chatId,
    admittedAt,
    askedAt,
    first: first.promise,
    done: done.promise,
    close() {
      clearTimeout(patience);
      connection.close();
    },
  };
}

function scriptText(id: string, script: Script): string {
  return `Hello bench(${id},${script.tokens},${script.perSecond},${script.hold === true ? 1 : 0})`;
}

function newId(): string {
  return `b${randomBytes(9).toString('base64url')}`;
}
