import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { trackActivity } from '../../src/daemon/activity.ts';
import { handleFiles } from '../../src/daemon/files/requests.ts';
import { createDaemonServer } from '../../src/daemon/http.ts';
import type { Daemon } from '../../src/daemon/state.ts';

export type Answer = {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says itself
  body: any;
};
type Init = { method?: string; headers?: OutgoingHttpHeaders; body?: string | Buffer | Readable; json?: unknown };

const token = 'token-of-this-test';

/** The file API of a daemon on loopback, in this process; `base` contains its home and what lies outside. */
export async function startFiles(
  homeName = 'home',
  limits: Daemon['config']['limits'] = { bytes: undefined, files: undefined },
) {
  const base = mkdtempSync(join(tmpdir(), 'hp-files-'));
  const home = join(base, homeName);
  mkdirSync(home, { recursive: true });
  const tokenHash = createHash('sha256').update(token).digest('hex');
  const faults: unknown[] = [];
  const config = { home, generation: 1, listen: { fd: 0 }, readyFd: undefined, tokenHash, tokenFile: undefined };
  const daemon: Daemon = {
    config: { ...config, egress: undefined, modelsUrl: undefined, limits, commandEnvironment: {} } as Daemon['config'],
    activity: trackActivity(),
    log: (_message, error) => faults.push(error),
  };
  const server = createDaemonServer({
    tokenHash,
    routes: [{ method: '*', path: /^\/v1\/files(?:\/.*)?$/, handler: (exchange) => handleFiles(exchange, daemon) }],
    open: () => false,
    onRequest: () => daemon.activity.touch(),
    upgrade: async () => undefined,
    log: daemon.log,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  /** A request whose body is still to be sent and whose response is still to be read. */
  const open = (path: string, { method, headers = {} }: Init = {}) =>
    request({
      host: '127.0.0.1',
      port,
      path,
      agent: false,
      method: method ?? 'GET',
      headers: { authorization: `Bearer ${token}`, ...headers },
    });

  const call = (path: string, init: Init = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { json, body = json === undefined ? undefined : JSON.stringify(json) } = init;
      const type = json === undefined ? {} : { 'content-type': 'application/json' };
      const method = init.method ?? (json === undefined ? 'GET' : 'POST');
      const outgoing = open(path, { ...init, method, headers: { ...type, ...init.headers } });
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const isJson = incoming.headers['content-type'] === 'application/json';
          const parsed = isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined;
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, bytes, body: parsed });
        });
      });
      if (body instanceof Readable) body.pipe(outgoing);
      else outgoing.end(body);
    });

  return {
    base,
    home,
    daemon,
    faults,
    open,
    call,
    put: (path: string, body: string | Buffer | Readable, onConflict = 'fail') =>
      call(`/v1/files/content?path=${encodeURIComponent(path)}&onConflict=${onConflict}`, { method: 'PUT', body }),
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** Descriptors of this process that lead below a folder. */
export function openBelow(folder: string): string[] {
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return '';
    }
  });
  return links.filter((link) => link.startsWith(folder));
}

export function at(path: string): string {
  return `?path=${encodeURIComponent(path)}`;
}
