import { connect, type Socket } from 'node:net';

/** A whole, short answer. */
export type PlainAnswer = { status: number; head: string; body: string };

type Reader = { onData(data: Buffer): void; onClose(): void };

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');
const contentLength = Buffer.from('content-length: ');

/**
 * One kept-alive HTTP connection on a raw socket, one request at a time: a load generator that costs a fraction of its
 * load. It parses only the HTTP that the subjects send.
 */
export class Connection {
  readonly socket: Socket;
  readonly #host: string;
  #reader: Reader | undefined;

  private constructor(socket: Socket, port: number) {
    this.socket = socket;
    this.#host = `127.0.0.1:${port}`;
    socket.setNoDelay(true);
    socket.on('data', (data: Buffer) => this.#reader?.onData(data));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#reader?.onClose());
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket, port));
      });
    });
  }

  /** The text of a request, built once and sent often. `identity` is a cookie, or a bearer token. */
  requestText(method: string, path: string, identity: string | { token: string }, body?: string): string {
    const length = body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${body.length}\r\n`;
    const cookie = identity === '' ? '' : `cookie: ${identity}\r\n`;
    const sender = typeof identity === 'string' ? cookie : `authorization: Bearer ${identity.token}\r\n`;
    return `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n${sender}${length}\r\n${body ?? ''}`;
  }

  /** Sends a request and reads the whole response. */
  exchange(requestText: string): Promise<PlainAnswer> {
    return new Promise((resolve, reject) => {
      let data: Buffer = Buffer.alloc(0);
      this.#reader = {
        onData: (next) => {
          data = data.length === 0 ? next : Buffer.concat([data, next]);
          const answer = readAnswer(data);
          if (answer !== undefined) resolve(answer);
        },
        onClose: () => reject(new Error('The connection was closed before the answer was whole')),
      };
      this.#send(requestText);
    });
  }

  /** Sends a request; `reader` gets the response as it arrives, including the head. */
  stream(requestText: string, reader: Reader): void {
    this.#reader = reader;
    this.#send(requestText);
  }

  /** Rejects the reader if the socket closed between two requests, since it emits no further event. */
  #send(requestText: string): void {
    if (this.socket.destroyed) this.#reader?.onClose();
    else this.socket.write(requestText);
  }

  close(): void {
    this.#reader = undefined;
    this.socket.destroy();
  }
}

function readAnswer(data: Buffer): PlainAnswer | undefined {
  const bodyAt = data.indexOf(headEnd) + headEnd.length;
  if (bodyAt < headEnd.length) return undefined;
  const lengthAt = indexOfLength(data, bodyAt);
  if (lengthAt >= 0) {
    const length = Number(/\d+/.exec(data.toString('latin1', lengthAt, lengthAt + 12))?.[0]);
    if (data.length < bodyAt + length) return undefined;
  } else if (!data.subarray(-lastChunk.length).equals(lastChunk)) {
    return undefined;
  }
  const head = data.toString('latin1', 0, bodyAt);
  return { status: Number(head.slice(9, 12)), head, body: data.toString('utf8', bodyAt) };
}

function indexOfLength(data: Buffer, bodyAt: number): number {
  const head = data.subarray(0, bodyAt);
  const lower = head.indexOf(contentLength);
  const at = lower >= 0 ? lower : head.indexOf('Content-Length: ');
  return at < 0 ? -1 : at + contentLength.length;
}
