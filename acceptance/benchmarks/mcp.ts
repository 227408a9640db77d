import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { mcpServer } from '@homeport/contracts/mcp/mcp';
import { type Bench, interleave } from './bench.ts';
import type { Product } from './product.ts';
import { Histogram } from './statistics.ts';
import type { Subject } from './subjects.ts';

const turnsPerRound = 40;
const reply = { tokens: 5, perSecond: 50 };

/** Conversations that differ only in their MCP servers. */
type Kind = { name: string; mcpServerIds: string[]; chats: string[]; first: Histogram };

/**
 * Measures the cost of a trusted MCP server on a warm connection for a turn that calls none of its tools: time from the
 * question to the first token, alternating turns with and without it. The server is the protocol's reference server
 * over http, which announces changes.
 */
export async function measureMcp(bench: Bench): Promise<void> {
  const product = await bench.product();
  const subject = await bench.productSubject();
  const server = await startServer();
  try {
    const made = await product.call('POST', '/api/mcp', { name: 'Everything', url: server.url });
    const { id, lastError, tools } = mcpServer.parse((made as { server: unknown }).server);
    if (lastError !== null) throw new Error(`The MCP server could not be used: ${lastError}`);
    await product.call('POST', '/api/mcp/trust', { id });
    const kinds: Kind[] = [
      { name: 'without', mcpServerIds: [], chats: [], first: new Histogram() },
      { name: 'with', mcpServerIds: [id], chats: [], first: new Histogram() },
    ];
    for (const kind of kinds) await takeTurns(product, subject, kind);
    for (const kind of kinds) kind.first = new Histogram();
    await interleave(bench.quick ? 4 : 10, kinds, (kind) => takeTurns(product, subject, kind));
    const [without, withServer] = kinds.map(({ first }) => first);
    for (const [what, share] of [
      ['p50', 0.5],
      ['p95', 0.95],
    ] as const) {
      const plain = without?.percentile(share) ?? 0;
      const measured = withServer?.percentile(share) ?? 0;
      bench.report.add({
        part: 'mcp',
        what: `a warm MCP server adds to the first token, ${what}`,
        measured: measured - plain,
        unit: 'ms',
        judge: 'value',
        limit: { at: 'most', value: 5 },
        note: `(${measured.toFixed(2)} with, ${plain.toFixed(2)} without, ${withServer?.count} turns; ${tools.length} tools)`,
      });
    }
    await product.call('DELETE', `/api/mcp?id=${id}`);
  } finally {
    server.child.kill('SIGKILL');
  }
}

async function takeTurns(product: Product, subject: Subject, kind: Kind): Promise<void> {
  if (kind.chats.length === 0) {
    kind.chats = await product.createChats(turnsPerRound);
    for (const id of kind.chats) {
      await product.call('PATCH', '/api/chats', { id, mcpServerIds: kind.mcpServerIds });
    }
  }
  for (const chatId of kind.chats) {
    const stream = await subject.open(reply, undefined, { chatId });
    kind.first.add((await stream.first) - stream.askedAt);
    await stream.done;
    await delay(20);
  }
}

async function startServer(): Promise<{ url: string; child: ChildProcess }> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
  const script = join(dirname(manifest), 'dist/index.js');
  const environment = { PATH: process.env.PATH, PORT: String(port) };
  const child = spawn(process.execPath, [script, 'streamableHttp'], { env: environment });
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('The MCP server ended')));
    child.stderr?.on('data', (chunk) => {
      if (String(chunk).includes(String(port))) resolve();
    });
  });
  child.stdout?.resume();
  return { url: `http://127.0.0.1:${port}/mcp`, child };
}
