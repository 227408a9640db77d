import { readFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Address } from './config.ts';

const headMaxBytes = 16 * 1024;
const headTimeoutMs = 15_000;
const idleMs = 10 * 60_000;
const maxConnections = 128;
const replaced = /^(proxy-authorization|proxy-connection|connection)\s*:/i;

type Bridge = { egress: Address; tokenFile: string | undefined; port: number };

/**
 * The proxy that programs in the workspace use. It forwards requests to the control plane's proxy with the workspace's
 * token, so that programs need not know it: CONNECT, and absolute-form requests, one per connection. Resolves when it
 * listens.
 */
export function startEgressBridge({ egress, tokenFile, port }: Bridge): Promise<Server> {
  const server = createServer((client) => {
    client.on('error', () => undefined);
    client.setTimeout(headTimeoutMs, () => client.destroy());
    pass(client, egress, tokenFile).catch(() => client.destroy());
  });
  server.maxConnections = maxConnections;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

async function pass(client: Socket, egress: Address, tokenFile: string | undefined): Promise<void> {
  const { head, rest } = await readHead(client);
  const token = tokenFile === undefined ? undefined : (await readFile(tokenFile, 'utf8')).trim();
  const request = head === undefined ? undefined : withToken(head, token);
  if (request === undefined) return refuse(client, 400, 'Bad Request');
  if ('fd' in egress) throw new Error('a descriptor cannot be dialled');
  const upstream = connect(egress);
  let isConnected = false;
  upstream.once('connect', () => {
    isConnected = true;
  });
  upstream.on('error', () => (isConnected ? client.destroy() : refuse(client, 502, 'Bad Gateway')));
  upstream.on('close', () => client.destroySoon());
  client.on('close', () => upstream.destroy());
  client.setTimeout(idleMs);
  upstream.write(request, 'latin1');
  if (rest.length > 0) upstream.write(rest);
  client.pipe(upstream);
  upstream.pipe(client);
}

/** Reads the head of a request as text, and the bytes received after it; no head if it is too long. */
async function readHead(client: Socket): Promise<{ head: string | undefined; rest: Buffer }> {
  let bytes: Buffer = Buffer.alloc(0);
  while (bytes.length <= headMaxBytes) {
    const end = bytes.indexOf('\r\n\r\n');
    if (end >= 0) return { head: bytes.toString('latin1', 0, end), rest: bytes.subarray(end + 4) };
    bytes = Buffer.concat([bytes, await nextChunk(client)]);
  }
  return { head: undefined, rest: bytes };
}

function nextChunk(client: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error('closed before the head was read'));
    client.once('close', ended);
    client.once('end', ended);
    client.once('data', (chunk: Buffer) => {
      client.pause();
      client.removeListener('close', ended);
      client.removeListener('end', ended);
      resolve(chunk);
    });
    client.resume();
  });
}

/** The request as the control plane's proxy expects it; undefined if it is not a valid one. */
function withToken(head: string, token: string | undefined): string | undefined {
  const [requestLine = '', ...fields] = head.split('\r\n');
  const [, method] = /^([A-Z]{1,20}) \S+ HTTP\/1\.[01]$/.exec(requestLine) ?? [];
  if (method === undefined) return undefined;
  if (method !== 'CONNECT' && !/^[A-Z]+ https?:\/\//i.test(requestLine)) return undefined;
  const kept = fields.filter((field) => !replaced.test(field));
  const own = token === undefined ? [] : [`proxy-authorization: Bearer ${token}`];
  const closing = method === 'CONNECT' ? [] : ['connection: close'];
  return `${[requestLine, ...kept, ...own, ...closing].join('\r\n')}\r\n\r\n`;
}

function refuse(client: Socket, status: number, text: string): void {
  client.end(`HTTP/1.1 ${status} ${text}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
}
