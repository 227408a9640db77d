import { connect, type Socket } from 'node:net';
import { trimOf } from '@homeport/contracts/text/trim-characters';
import { systemClock, type Timer } from '../platform/clock.ts';
import type { DaemonAddress } from './daemon-request.ts';

/** A daemon's response with a known length. Read it or destroy it. */
export type DaemonDownload = {
  status: number;
  /** The few headers that are ever used. */
  headers: Partial<Record<KeptHeader, string>>;
  /**
   * Passes on exactly as many bytes as announced; they are overwritten once `take` has resolved. Rejects if the body
   * ends early, if the signal aborts, or with what `take` throws.
   */
  read(take: (bytes: Buffer) => Promise<void>): Promise<void>;
  destroy(): void;
};
type KeptHeader = 'content-length' | 'content-range' | 'etag' | 'last-modified';
type Wish = { method: 'GET' | 'HEAD'; headers: Record<string, string>; signal: AbortSignal };

const headBytesMax = 16 * 1024;
const headMs = 30_000;
const bufferBytes = 256 * 1024;
const kept: readonly string[] = ['content-length', 'content-range', 'etag', 'last-modified'];

/**
 * Requests a file from a daemon. Like `daemonRequest`, but for many bytes: Node's client allocates 64 KiB for every
 * read, which costs more than all the rest; here one buffer is reused. Accepts only HTTP/1.1 with a length.
 */
export function daemonDownload(address: DaemonAddress, path: string, wish: Wish): Promise<DaemonDownload> {
  return new Download(address, path, wish).begin();
}

class Download {
  readonly #socket: Socket;
  readonly #wish: Wish;
  readonly #head = Promise.withResolvers<DaemonDownload>();
  readonly #body = Promise.withResolvers<void>();
  readonly #timer: Timer;
  #received = Buffer.alloc(0);
  #hasHead = false;
  #left = 0;
  #take: ((bytes: Buffer) => Promise<void>) | undefined;

  constructor(address: DaemonAddress, path: string, wish: Wish) {
    this.#wish = wish;
    this.#body.promise.catch(() => undefined);
    const target = 'socketPath' in address ? { path: address.socketPath } : address;
    const buffer = Buffer.allocUnsafeSlow(bufferBytes);
    const onread = { buffer, callback: (count: number) => this.#read(buffer.subarray(0, count)) };
    this.#socket = connect({ ...target, onread });
    this.#timer = systemClock.after(headMs, () => this.#fail(new Error('the daemon did not answer in time')));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('the daemon ended before its answer was complete')));
    const lines = Object.entries({ host: 'workspace', connection: 'close', ...wish.headers });
    const head = lines.map(([name, value]) => `${name}: ${value.replace(/[^\t\x20-\x7e]/g, '')}\r\n`).join('');
    this.#socket.write(`${wish.method} ${path.replace(/[^\x21-\x7e]/g, '')} HTTP/1.1\r\n${head}\r\n`);
  }

  begin(): Promise<DaemonDownload> {
    const { signal } = this.#wish;
    const abort = (): void => this.#fail(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    this.#socket.once('close', () => signal.removeEventListener('abort', abort));
    return this.#head.promise;
  }

  /** False: nothing more is read until the socket is resumed. */
  #read(bytes: Buffer): boolean {
    if (this.#hasHead) {
      this.#pass(bytes);
      return false;
    }
    this.#received = Buffer.concat([this.#received, bytes]);
    const end = this.#received.indexOf('\r\n\r\n');
    if (end > headBytesMax || (end < 0 && this.#received.length > headBytesMax)) {
      this.#fail(new Error('the head of the answer is too large'));
      return false;
    }
    if (end < 0) return true;
    this.#begun(this.#received.subarray(0, end).toString('latin1'), this.#received.subarray(end + 4));
    return false;
  }

  #begun(head: string, rest: Buffer): void {
    this.#timer.stop();
    const answer = parseHead(head);
    if (answer === undefined) {
      this.#fail(new Error("the daemon's response is not valid HTTP"));
      return;
    }
    this.#hasHead = true;
    const hasBody = this.#wish.method === 'GET' && answer.status !== 304;
    this.#left = hasBody ? Number(answer.headers['content-length']) : 0;
    const destroy = (): void => {
      this.#socket.destroy();
    };
    if (this.#left === 0) this.#body.resolve();
    const read: DaemonDownload['read'] = (take) => {
      this.#take = take;
      if (this.#left > 0 && rest.length > 0) this.#pass(rest);
      else this.#socket.resume();
      return this.#body.promise;
    };
    this.#head.resolve({ ...answer, read, destroy });
  }

  #pass(bytes: Buffer): void {
    const mine = bytes.subarray(0, this.#left);
    const taken = this.#take?.(mine) ?? Promise.reject(new Error('the response was not read in time'));
    taken.then(
      () => {
        this.#left -= mine.length;
        if (this.#left > 0) this.#socket.resume();
        else this.#done();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #done(): void {
    this.#body.resolve();
    this.#socket.destroy();
  }

  #fail(error: unknown): void {
    this.#timer.stop();
    this.#head.reject(error);
    this.#body.reject(error);
    this.#socket.destroy();
  }
}

/** Undefined for anything except a final HTTP/1.1 response of known length in its plainest form. */
function parseHead(text: string): Pick<DaemonDownload, 'status' | 'headers'> | undefined {
  const [first = '', ...lines] = text.split('\r\n');
  const status = Number(/^HTTP\/1\.1 ([2-5]\d\d)(?: [\t\x20-\x7e]*)?$/.exec(first)?.[1]);
  if (Number.isNaN(status)) return undefined;
  const headers: Partial<Record<KeptHeader, string>> = {};
  for (const line of lines) {
    const [, written = '', given = ''] = /^([\w!#$%&'*+.^`|~-]+):([\t\x20-\x7e]*)$/.exec(line) ?? [];
    const value = trimOf(given, ' \t');
    const name = written.toLowerCase();
    if (name === '' || name === 'transfer-encoding') return undefined;
    if (!kept.includes(name)) continue;
    if (Object.hasOwn(headers, name)) return undefined;
    headers[name as KeptHeader] = value;
  }
  const isSized = /^\d{1,15}$/.test(headers['content-length'] ?? '');
  return isSized || status === 304 ? { status, headers } : undefined;
}
