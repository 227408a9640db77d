import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';

/** An MCP server of the newest protocol (2026-07-28 and nothing older), by its own makers' library, on loopback. */
export async function startNewestMcp(make: () => McpServer) {
  const handler = createMcpHandler(make, { legacy: 'reject' });
  const methods: string[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.on('close', () => gone.abort());
    const body = incoming.method === 'POST' ? await buffer(incoming) : undefined;
    if (body !== undefined) methods.push(JSON.parse(body.toString()).method);
    const response = await handler.fetch(
      new Request(`http://127.0.0.1${incoming.url}`, {
        method: incoming.method ?? 'GET',
        headers: Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]),
        signal: gone.signal,
        ...(body === undefined ? {} : { body }),
      }),
    );
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    try {
      for await (const chunk of response.body ?? []) outgoing.write(chunk);
    } catch {
      // The client has disconnected.
    }
    outgoing.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    /** As received. */
    methods,
    notify: handler.notify,
    close() {
      server.closeAllConnections();
      server.close();
      void handler.close();
    },
  };
}
