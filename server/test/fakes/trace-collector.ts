import { createServer } from 'node:http';
import type { Socket } from 'node:net';

/**
 * An OTLP collector on loopback: reads traces as protobuf (opentelemetry-proto, trace/v1) and keeps every byte it got.
 */

export type SeenSpan = {
  traceId: string;
  spanId: string;
  parentId: string;
  name: string;
  kind: number;
  facts: Record<string, string | number | boolean>;
  failed: boolean;
  startedAt: bigint;
  endedAt: bigint;
};

export type TraceCollector = {
  url: string;
  spans: SeenSpan[];
  resource: Record<string, string | number | boolean>;
  /** Head and body of every request. */
  bytes: Buffer[];
  /** Accepts nothing from now on: answers 503, or not at all. */
  breakDown(how: 'refuses' | 'hangs' | undefined): void;
  stop(): Promise<void>;
};

export async function startTraceCollector(): Promise<TraceCollector> {
  let broken: 'refuses' | 'hangs' | undefined;
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [Buffer.from(`${request.method} ${request.url} ${JSON.stringify(request.rawHeaders)}\n`)];
    for await (const part of request) parts.push(part);
    collector.bytes.push(Buffer.concat(parts));
    if (broken === 'hangs') return;
    if (broken === 'refuses') return void response.writeHead(503).end();
    const isOurs = request.url === '/v1/traces' && request.headers['content-type'] === 'application/x-protobuf';
    if (!isOurs) return void response.writeHead(404).end();
    readRequest(Buffer.concat(parts.slice(1)), collector);
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const collector: TraceCollector = {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    spans: [],
    resource: {},
    bytes: [],
    breakDown(how) {
      broken = how;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return collector;
}

function readRequest(body: Buffer, collector: TraceCollector): void {
  for (const resourceSpans of messages(body, 1)) {
    for (const resource of messages(resourceSpans, 1)) Object.assign(collector.resource, readFacts(resource, 1));
    for (const scope of messages(resourceSpans, 2)) {
      for (const span of messages(scope, 2)) collector.spans.push(readSpan(span));
    }
  }
}

function readSpan(span: Buffer): SeenSpan {
  const hex = (field: number) => messages(span, field)[0]?.toString('hex') ?? '';
  const [status] = messages(span, 15);
  return {
    traceId: hex(1),
    spanId: hex(2),
    parentId: hex(4),
    name: messages(span, 5)[0]?.toString() ?? '',
    kind: Number(numbers(span, 6)[0] ?? 0n),
    facts: readFacts(span, 9),
    failed: status !== undefined && numbers(status, 3)[0] === 2n,
    startedAt: numbers(span, 7)[0] ?? 0n,
    endedAt: numbers(span, 8)[0] ?? 0n,
  };
}

function readFacts(message: Buffer, field: number): Record<string, string | number | boolean> {
  return Object.fromEntries(
    messages(message, field).map((pair) => {
      const [value = Buffer.alloc(0)] = messages(pair, 2);
      const [text] = messages(value, 1);
      const [truth] = numbers(value, 2);
      const [whole = 0n] = numbers(value, 3);
      const read = text?.toString() ?? (truth === undefined ? Number(whole) : truth === 1n);
      return [messages(pair, 1)[0]?.toString() ?? '', read];
    }),
  );
}

type Field = { number: number; bytes?: Buffer; value?: bigint };

/** Protocol buffers' wire format: fields of bytes, of varints and of eight or four bytes. */
function* fields(message: Buffer): Generator<Field> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) throw new Error('A message was cut off');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const key = Number(varint());
    const number = key >> 3;
    if ((key & 7) === 0) yield { number, value: varint() };
    else if ((key & 7) === 1) {
      yield { number, value: message.readBigUInt64LE(at) };
      at += 8;
    } else if ((key & 7) === 5) {
      yield { number, value: BigInt(message.readUInt32LE(at)) };
      at += 4;
    } else {
      const length = Number(varint());
      yield { number, bytes: message.subarray(at, at + length) };
      at += length;
    }
  }
}

const messages = (message: Buffer, number: number): Buffer[] =>
  [...fields(message)].flatMap((field) => (field.number === number && field.bytes !== undefined ? [field.bytes] : []));
const numbers = (message: Buffer, number: number): bigint[] =>
  [...fields(message)].flatMap((field) => (field.number === number && field.value !== undefined ? [field.value] : []));
