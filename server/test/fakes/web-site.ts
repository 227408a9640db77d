import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Page = {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Writes the response itself. */
  serve?: (response: ServerResponse, request: IncomingMessage) => void;
};

export type FakeWebSite = {
  /** Its origin. */
  url: string;
  /** Paths in the order they were asked for. */
  asked: string[];
  headers: IncomingMessage['headers'][];
  /** Sets the page at a path; text is sent as HTML. */
  page(path: string, page: string | Page): void;
  close(): Promise<void>;
};

/** A site on loopback whose pages are scripted; any other path is not found. */
export async function startWebSite(): Promise<FakeWebSite> {
  const pages = new Map<string, Page>();
  const asked: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    asked.push(path);
    headers.push(request.headers);
    const page = pages.get(path) ?? { status: 404, body: 'not found' };
    response.on('error', () => undefined);
    if (page.serve !== undefined) {
      page.serve(response, request);
      return;
    }
    response.writeHead(page.status ?? 200, { 'content-type': 'text/html; charset=utf-8', ...page.headers });
    response.end(page.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    headers,
    page: (path, page) => void pages.set(path, typeof page === 'string' ? { body: page } : page),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A page with enough text to be an article. */
export function article(title: string, body: string): string {
  const filler = 'The harbor opens at six in the morning and closes at ten in the evening, on every day of the year. ';
  return `<!doctype html><html><head><title>${title}</title></head><body><nav><a href="/menu">Menu</a></nav>
    <article><h1>${title}</h1><p>${filler.repeat(4)}</p>${body}<p>${filler.repeat(3)}</p></article>
    <footer>Imprint</footer></body></html>`;
}
