import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One search as the service received it. */
type SearchRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: unknown;
};
type SearchReply = { status?: number; type?: string; headers?: Record<string, string>; body: unknown };

export type FakeSearchService = {
  /** Its origin. */
  url: string;
  requests: SearchRequest[];
  /** Sets the reply from here on; text is sent as it is, anything else as JSON. */
  reply(make: SearchReply | ((request: SearchRequest) => SearchReply)): void;
  close(): Promise<void>;
};

/** A search service on loopback, whose replies are scripted; at first it finds nothing. */
export async function startSearchService(): Promise<FakeSearchService> {
  const requests: SearchRequest[] = [];
  let make = (_request: SearchRequest): SearchReply => ({ body: { results: [] } });
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const url = new URL(incoming.url ?? '/', 'http://localhost');
    const request = {
      method: incoming.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: incoming.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
    requests.push(request);
    const { status = 200, type = 'application/json', headers = {}, body } = make(request);
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    reply(next) {
      make = typeof next === 'function' ? next : () => next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
