import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Caller } from '../product.ts';

/** An MCP server on loopback (streamable HTTP, JSON responses) whose tools a test changes while it runs. */
export type TestMcp = {
  url: string;
  tools: TestTool[];
  /** The authorization headers of the requests so far. */
  authorizations: (string | undefined)[];
  calls: { name: string; arguments: unknown }[];
  /** Content of the result of a call. */
  content: unknown[];
  /** Awaited before a call is answered. */
  beforeAnswer?: () => Promise<void>;
  close(): void;
};
export type TestTool = { name: string; description?: string; inputSchema: unknown; annotations?: unknown };

type Message = { id?: number | string; method?: string; params?: { name?: string; arguments?: unknown } };

export async function startMcp(tools: TestTool[]): Promise<TestMcp> {
  const server = createServer((request, response) => void serve(mcp, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const mcp: TestMcp = {
    url: `http://127.0.0.1:${port}/mcp`,
    tools,
    authorizations: [],
    calls: [],
    content: [{ type: 'text', text: 'done' }],
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return mcp;
}

/** Adds the server under this name for a person, who trusts it. */
export async function addTrusted(
  caller: Caller,
  { name, url, toolPolicies }: { name: string; url: string; toolPolicies: Record<string, string> },
): Promise<void> {
  const { server } = await caller.must('POST', '/api/mcp', { name, url, toolPolicies });
  await caller.must('POST', '/api/mcp/trust', { id: server.id, fingerprint: server.fingerprint });
}

async function serve(mcp: TestMcp, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  mcp.authorizations.push(request.headers.authorization);
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const message: Message = JSON.parse(Buffer.concat(parts).toString());
  if (message.id === undefined) return void response.writeHead(202).end();
  const result = answer(mcp, message);
  if (message.method === 'tools/call') await mcp.beforeAnswer?.();
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
}

function answer(mcp: TestMcp, { method, params }: Message): unknown {
  if (method === 'initialize') {
    return {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'acceptance', version: '1' },
    };
  }
  if (method === 'tools/list') return { tools: mcp.tools };
  if (method !== 'tools/call') return {};
  mcp.calls.push({ name: params?.name ?? '', arguments: params?.arguments });
  return { content: mcp.content };
}
