import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/**
 * An MCP server on loopback (protocol 2025-11-25, streamable HTTP and the older SSE) that a test can make do anything.
 */

export type FakeTool = {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
};
export type RpcMessage = { jsonrpc: '2.0'; id?: number | string; method?: string; params?: Record<string, unknown> };
type FakeCall = { name: string; input: unknown; headers: Record<string, string>; definitions: FakeTool[] };

/** A hook instead of the usual answer: sends a result, or takes the response over and returns `handled`. */
export type Hook = (
  message: RpcMessage,
  response: ServerResponse,
) => Promise<'handled' | undefined> | 'handled' | undefined;

type Refusal = { status: number; headers: Record<string, string> };

export type FakeMcp = {
  url: string;
  sseUrl: string;
  tools: FakeTool[];
  pageSize: number;
  /** Whether it announces changes, and whether clients get a stream of announcements. */
  announces: boolean;
  streams: boolean;
  calls: FakeCall[];
  /** Methods as received. */
  methods: string[];
  headersSeen: Record<string, string>[];
  hook: Hook | undefined;
  /** Refuses a request before anything else, or accepts it. */
  gate: ((headers: Record<string, string>) => Promise<Refusal | undefined>) | undefined;
  /** Takes over whole requests before anything else; `body` is the text that was sent. */
  intercept: ((request: IncomingMessage, response: ServerResponse, body: string) => 'handled' | undefined) | undefined;
  /** JSON at these paths, for every client. */
  documents: Record<string, unknown>;
  answer: (call: FakeCall) => unknown;
  /** Capabilities other than tools, with the answers to their methods. */
  more: Record<string, object>;
  answerMore: (method: string, params: Record<string, unknown>) => unknown;
  /** Replaces the tools, and notifies listeners if it announces changes. */
  change(tools: FakeTool[]): void;
  /** Drops all sessions, as a restart does. */
  forget(): void;
  openStreams(): number;
  close(): Promise<void>;
};

export const echoTool: FakeTool = {
  name: 'echo',
  description: 'Says it again',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};

/** The fingerprint as contract.md section 7 has it, written independently of the product. */
export function expectedFingerprint(tools: readonly FakeTool[]): string {
  const sorted = [...tools].sort((one, other) => (one.name < other.name ? -1 : 1));
  const picked = sorted.map(({ name, title, description, inputSchema, outputSchema, annotations }) => ({
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
  }));
  return createHash('sha256').update(sortedJson(picked)).digest('hex');
}

function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const members = entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${sortedJson(item)}`).join(',')}}`;
}

export async function startFakeMcp(tools: FakeTool[] = [echoTool]): Promise<FakeMcp> {
  const sessions = new Set<string>();
  const streams = new Set<ServerResponse>();
  const sseStreams = new Map<string, ServerResponse>();
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;

  const fake: FakeMcp = {
    url: `${origin}/mcp`,
    sseUrl: `${origin}/sse`,
    tools,
    pageSize: 1000,
    announces: true,
    streams: true,
    calls: [],
    methods: [],
    headersSeen: [],
    hook: undefined,
    gate: undefined,
    intercept: undefined,
    documents: {},
    more: {},
    answerMore: () => undefined,
    answer: ({ input }) => ({ content: [{ type: 'text', text: `echo ${JSON.stringify(input)}` }] }),
    change(next) {
      fake.tools = next;
      if (!fake.announces) return;
      const text = sse({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
      for (const stream of [...streams, ...sseStreams.values()]) stream.write(text);
    },
    forget() {
      sessions.clear();
      for (const stream of [...streams, ...sseStreams.values()]) stream.end();
    },
    openStreams: () => streams.size + sseStreams.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', origin);
    fake.headersSeen.push(headersOf(request));
    const body = request.method === 'POST' ? await readBody(request) : '';
    if (fake.intercept?.(request, response, body) === 'handled') return;
    const document = fake.documents[url.pathname];
    if (document !== undefined) return end(response, 200, JSON.stringify(document));
    const refusal = await fake.gate?.(headersOf(request));
    if (refusal !== undefined) {
      response.writeHead(refusal.status, refusal.headers).end();
      return;
    }
    if (url.pathname === '/sse' && request.method === 'GET') return openSse(response);
    if (url.pathname === '/messages') return takeSseMessage(url, request, response, body);
    if (url.pathname !== '/mcp') return end(response, 404);
    if (request.method === 'DELETE') return end(response, 200);
    if (request.method === 'GET') return openStream(request, response);
    const message: RpcMessage = JSON.parse(body);
    fake.methods.push(message.method ?? 'response');
    if ((await fake.hook?.(message, response)) === 'handled') return;
    if (message.method === 'initialize') {
      const session = randomUUID();
      sessions.add(session);
      response.setHeader('mcp-session-id', session);
    } else if (message.method !== 'server/discover' && !sessions.has(String(request.headers['mcp-session-id']))) {
      return end(
        response,
        404,
        JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32001, message: 'no session' } }),
      );
    }
    if (message.id === undefined) return end(response, 202);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(reply(message, headersOf(request))));
  }

  function openStream(request: IncomingMessage, response: ServerResponse): void {
    const isKnown = sessions.has(String(request.headers['mcp-session-id']));
    if (!fake.streams || !isKnown) {
      end(response, fake.streams ? 404 : 405);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': open\n\n');
    streams.add(response);
    response.on('close', () => streams.delete(response));
  }

  function openSse(response: ServerResponse): void {
    const session = randomUUID();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: endpoint\ndata: /messages?session=${session}\n\n`);
    sseStreams.set(session, response);
    response.on('close', () => sseStreams.delete(session));
  }

  async function takeSseMessage(
    url: URL,
    request: IncomingMessage,
    response: ServerResponse,
    body: string,
  ): Promise<void> {
    const stream = sseStreams.get(url.searchParams.get('session') ?? '');
    if (stream === undefined) return end(response, 404);
    const message: RpcMessage = JSON.parse(body);
    fake.methods.push(message.method ?? 'response');
    if ((await fake.hook?.(message, stream)) === 'handled') return end(response, 202);
    if (message.id !== undefined) stream.write(sse(reply(message, headersOf(request))));
    end(response, 202);
  }

  function reply(message: RpcMessage, headers: Record<string, string>): unknown {
    const result = resultOf(message, headers);
    if (result !== undefined) return { jsonrpc: '2.0', id: message.id, result };
    return { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } };
  }

  function resultOf({ method, params = {} }: RpcMessage, headers: Record<string, string>): unknown {
    if (method === 'initialize') {
      return {
        protocolVersion: '2025-11-25',
        capabilities: { tools: fake.announces ? { listChanged: true } : {}, ...fake.more },
        serverInfo: { name: 'fake', version: '1' },
      };
    }
    if (method === 'tools/list') {
      const start = Number(params.cursor ?? 0);
      const end = start + fake.pageSize;
      const page = fake.tools.slice(start, end);
      return { tools: page, ...(end < fake.tools.length ? { nextCursor: String(end) } : {}) };
    }
    if (method !== 'tools/call') return method === 'ping' ? {} : fake.answerMore(method ?? '', params);
    const call = { name: String(params.name), input: params.arguments, headers, definitions: fake.tools };
    fake.calls.push(call);
    return fake.answer(call);
  }

  return fake;
}

export function sse(message: unknown): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

function end(response: ServerResponse, status: number, body = ''): void {
  response.writeHead(status, body === '' ? {} : { 'content-type': 'application/json' });
  response.end(body);
}

function headersOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
