import { execFileSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Manifest } from '@homeport/contracts/manifest';
import { provisionSummary } from '@homeport/contracts/provision';
import { type Bench, readCpu, spentSince } from './bench.ts';
import { childrenOf, cores, residentBytes } from './processes.ts';
import type { Product } from './product.ts';

const size = { users: 1_000, modelsPerUser: 5, conversations: 10_000, messages: 4 };
const sampleMs = 50;

/**
 * A large manifest: how long it takes, how much the server grows meanwhile, and how late /api/health answers. Most of
 * it is hashing passwords, which takes both cores, so the product is not pinned here.
 */
export async function measureProvision(bench: Bench): Promise<void> {
  const product = await bench.freshProduct();
  for (const pid of [product.pid, product.databasePid]) unpin(pid);
  const users = bench.quick ? size.users / 10 : size.users;
  const conversations = bench.quick ? size.conversations / 10 : size.conversations;
  const body = JSON.stringify(manifest(users, conversations));
  for (const what of ['new', 'a second time'] as const) {
    const cpuBefore = readCpu(product);
    const { seconds, growth, slowestMs } = await applied(product, body, what === 'new' ? users : 0);
    const part = 'provision';
    const named = `${users} users, ${users * size.modelsPerUser} models, ${conversations} conversations, ${what}`;
    bench.report.add({
      part,
      what: named,
      measured: seconds,
      unit: 's',
      judge: 'value',
      limit: { at: 'most', value: 60 },
      note: `${(body.length / 1e6).toFixed(0)} MB of JSON`,
    });
    bench.report.add({
      part,
      what: `growth of the server, ${what}`,
      measured: growth / 1e6,
      unit: 'MB',
      judge: 'value',
      limit: { at: 'most', value: 300 },
    });
    const cpu = spentSince(product, cpuBefore);
    bench.report.add({ part, what: `CPU of the server, ${what}`, measured: cpu.server, unit: 's' });
    bench.report.add({ part, what: `CPU of the database, ${what}`, measured: cpu.database, unit: 's' });
    bench.report.add({ part, what: `slowest /api/health meanwhile, ${what}`, measured: slowestMs, unit: 'ms' });
  }
  await product.stop();
}

async function applied(product: Product, body: string, created: number) {
  const before = residentBytes(product.pid);
  const watched = { peak: before, slowestMs: 0, over: false };
  const watching = watch(product, watched);
  const startedAt = performance.now();
  const response = await fetch(`http://127.0.0.1:${product.port}/api/admin/provision`, {
    method: 'POST',
    headers: { cookie: product.cookie, 'content-type': 'application/json' },
    body,
  });
  const text = await response.text();
  const seconds = (performance.now() - startedAt) / 1000;
  watched.over = true;
  await watching;
  if (response.status !== 200) throw new Error(`The manifest was answered ${response.status}: ${text.slice(0, 300)}`);
  const { applied: counts } = provisionSummary.parse(JSON.parse(text));
  if (counts.users.created !== created) throw new Error(`${counts.users.created} users were created`);
  return { seconds, growth: watched.peak - before, slowestMs: watched.slowestMs };
}

async function watch(product: Product, watched: { peak: number; slowestMs: number; over: boolean }): Promise<void> {
  while (!watched.over) {
    const askedAt = performance.now();
    await (await fetch(`http://127.0.0.1:${product.port}/api/health`)).text();
    watched.slowestMs = Math.max(watched.slowestMs, performance.now() - askedAt);
    watched.peak = Math.max(watched.peak, residentBytes(product.pid));
    await delay(sampleMs);
  }
}

/** Gives a process and its children all cores again. */
export function unpin(pid: number): void {
  for (const each of [pid, ...childrenOf(pid)]) {
    execFileSync('taskset', ['-a', '-p', '-c', Object.values(cores).join(), String(each)], { stdio: 'ignore' });
  }
}

function manifest(users: number, conversations: number): Manifest {
  const model = { contextWindow: 8_000, maxOutputTokens: 1_000, tier: 2 };
  const models = Array.from({ length: size.modelsPerUser }, (_, i) => ({
    ...model,
    providerModelId: `model-${i}`,
    displayName: `Model ${i}`,
  }));
  const provider = { name: 'Provider', baseUrl: 'https://api.example.org/v1', models };
  return {
    version: 1,
    users: Array.from({ length: users }, (_, i) => ({
      email: `user-${i}@example.org`,
      name: `User ${i}`,
      password: `password-of-user-${i}`,
      providers: [{ ...provider, apiKey: `sk-${i}`, headers: { 'x-user': String(i) } }],
    })),
    conversations: Array.from({ length: conversations }, (_, i) => ({
      id: `conversation-${i}`,
      ownerEmail: `user-${i % users}@example.org`,
      title: `Conversation ${i}`,
      createdAt: '2026-01-02T03:04:05Z',
      messages: Array.from({ length: size.messages }, (_, m) => ({
        id: `conversation-${i}-${m}`,
        role: m % 2 === 0 ? ('user' as const) : ('assistant' as const),
        parts: [{ type: 'text', text: `Words ${m} of conversation ${i}, and some more of them. `.repeat(8) }],
      })),
    })),
  };
}
