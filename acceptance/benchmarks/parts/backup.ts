import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { Connection } from '../load/connection.ts';
import { cpuSeconds } from '../servers/processes.ts';
import { type Product, scratchFolder } from '../servers/product.ts';
import { Histogram } from '../statistics.ts';
import { sendForm, watchPeak } from './artifacts.ts';

const mebibyte = 1024 ** 2;
const fileBytes = 5 * mebibyte;
const messagesPerChat = 100;
const batch = 20_000;
const readers = 20;
const pauseMs = 200;
const baselineSeconds = 20;

/**
 * A backup of many messages and files, made by the command and by the service itself, while people read and write; then
 * its restore. `--messages 1000000 --files-mib 5120` is the size of docs/operations.md.
 */
export async function measureBackup(bench: Bench): Promise<void> {
  const { messages, filesMib } = bench.sizes;
  const product = await bench.freshProduct();
  const chats = await fillChats(product, messages);
  await fillFiles(product, chats[0] ?? '', Math.ceil((filesMib * mebibyte) / fileBytes));
  const what = `${messages} messages, ${filesMib} MiB of files`;
  const add = (name: string, measured: number, unit: string, note = '') =>
    bench.report.add({ part: 'backup', what: name, measured, unit, note });
  add(`database: ${what}`, await databaseBytes(product), 'MiB');

  const load = new Load(product, chats);
  await load.start();
  const quiet = await load.during(() => delay(baselineSeconds * 1000));
  add(
    'p99 of requests, nothing else runs',
    quiet.p99,
    'ms',
    ` (p50 ${quiet.p50.toFixed(1)} ms, longest ${quiet.longest.toFixed(0)} ms)`,
  );
  const file = join(scratchFolder(), 'backup.tar');
  const command = ['backup', '--to', file];
  const made = await load.during(() => runAdmin(bench, command, { DATA_DIR: product.dataDir }));
  addRun(add, 'backup by the command', made.result);
  addLatency(add, 'the command makes a backup', made, quiet);
  add('size of the backup', statSync(file).size / mebibyte, 'MiB');

  const watch = watchPeak(product.pid);
  const cpuBefore = cpuSeconds(product.pid);
  const inService = await load.during(async () => {
    const startedAt = performance.now();
    await product.call('POST', '/api/admin/backups', {});
    while (await isRunning(product)) await delay(500);
    return (performance.now() - startedAt) / 1000;
  });
  add('backup by the service: time', inService.result, 's');
  add('backup by the service: CPU of the service, requests included', cpuSeconds(product.pid) - cpuBefore, 's');
  add('backup by the service: peak memory of the service', watch.stop() / mebibyte, 'MiB');
  addLatency(add, 'the service makes a backup', inService, quiet);
  await load.stop();
  await product.stop();
  rmSync(product.dataDir, { recursive: true, force: true });

  addRun(add, 'verify', await runAdmin(bench, ['verify', file], {}));
  const place = scratchFolder();
  addRun(add, 'restore', await runAdmin(bench, ['restore', file, '--into', join(place, 'restored')], {}));
  rmSync(place, { recursive: true, force: true });
  rmSync(file);
}

type Add = (name: string, measured: number, unit: string, note?: string) => void;
type Latency = { p50: number; p99: number; longest: number };

type Run = { seconds: number; cpu: number; peak: number };

function addRun(add: Add, name: string, { seconds, cpu, peak }: Run): void {
  add(`${name}: time`, seconds, 's');
  add(`${name}: CPU, without the database's`, cpu, 's');
  add(`${name}: peak memory`, peak / mebibyte, 'MiB');
}

function addLatency(add: Add, name: string, during: Latency, quiet: Latency): void {
  const note = ` (${(during.p99 / quiet.p99).toFixed(1)} times, p50 ${during.p50.toFixed(1)} ms, longest ${during.longest.toFixed(0)} ms)`;
  add(`p99 of requests while ${name}`, during.p99, 'ms', note);
}

async function fillChats(product: Product, messages: number): Promise<string[]> {
  const chats = await product.createChats(Math.ceil(messages / messagesPerChat / 100));
  const client = await product.openDatabase();
  // Most of the conversations are inserted as the product writes them: a request for each takes minutes.
  const count = Math.ceil(messages / messagesPerChat);
  await client.query(
    `insert into chats (id, owner_id, title, title_source, created_at, updated_at)
     select 'made-' || n, owner_id, 'Conversation ' || n, 'person', now() - n * interval '1 minute', now() - n * interval '1 minute'
     from chats, generate_series(1, $2::int) n where id = $1`,
    [chats[0], count],
  );
  // Enough texts that none repeats within one compressed block.
  await client.query(
    `create temporary table texts as select n, said, to_tsvector('simple', said) as search from generate_series(0, $1::int - 1) n,
       lateral (select string_agg(substr('abcdefghijklmnopqrstuvwxyz', 1 + abs(hashint4(n * 97 + w)) % 20,
         2 + abs(hashint4(w * 31 + n)) % 5) || abs(hashint4(n + w * 31)) % 300, ' ') as said from generate_series(1, 90) w) x`,
    [batch],
  );
  await client.query('create index on texts (n)');
  for (let first = 0; first < messages; first += batch) {
    await client.query(
      `insert into messages (id, chat_id, parent_id, role, parts, prompt, prompt_tokens, status, search, created_at)
       select 'made-' || m, 'made-' || (1 + m / $3), case when m % $3 > 0 then 'made-' || (m - 1) end, role,
         json_build_array(json_build_object('type', 'text', 'text', said))::text,
         json_build_object('role', role, 'content', said)::text, 150, 'complete', search, now()
       from texts, lateral (select n + $1::int as m, case when n % 2 = 0 then 'user' else 'assistant' end as role) x where m < $2
       order by m`,
      [first, messages, messagesPerChat],
    );
  }
  await client.query(
    `update chats set active_message_id = 'made-' || (substr(id, 6)::int * $1 - 1) where id like 'made-%'`,
    [messagesPerChat],
  );
  await client.query('vacuum analyze');
  const { rows } = await client.query(`select id from chats where id like 'made-%' order by id limit 1000`);
  await client.end();
  return [chats[0] ?? '', ...rows.map(({ id }) => id)];
}

async function fillFiles(product: Product, chatId: string, count: number): Promise<void> {
  const file = join(scratchFolder(), 'file');
  for (let number = 0; number < count; number += 1) {
    writeFileSync(file, randomBytes(fileBytes));
    await sendForm(product, '/api/artifacts', { chatId, path: `file-${number}.bin` }, file, fileBytes);
  }
}

async function databaseBytes(product: Product): Promise<number> {
  const client = await product.openDatabase();
  const { rows } = await client.query('select pg_database_size(current_database())::float8 as bytes');
  await client.end();
  return rows[0].bytes / mebibyte;
}

/** People who read their list and conversations, and begin new ones, each with a pause between requests. */
class Load {
  readonly #product: Product;
  readonly #chats: readonly string[];
  readonly #stop = new AbortController();
  readonly #histogram = new Histogram();
  #longest = 0;
  #people: Promise<void>[] = [];

  constructor(product: Product, chats: readonly string[]) {
    this.#product = product;
    this.#chats = chats;
  }

  async start(): Promise<void> {
    this.#people = Array.from({ length: readers }, (_, index) => this.#person(index));
    await delay(3_000);
  }

  async #person(index: number): Promise<void> {
    const { port, cookie } = this.#product;
    const connection = await Connection.open(port);
    await delay((index * pauseMs) / readers);
    for (let turn = index; !this.#stop.signal.aborted; turn += 1) {
      const chat = this.#chats[(turn * 37) % this.#chats.length];
      const reading = ['/api/me', '/api/chats?limit=50', `/api/chats?id=${chat}`][turn % 4];
      const text =
        reading === undefined
          ? connection.requestText('POST', '/api/chats', cookie, '{"title":"Bench"}')
          : connection.requestText('GET', reading, cookie);
      const startedAt = performance.now();
      const { status, body } = await connection.exchange(text);
      if (status >= 300) throw new Error(`${reading ?? 'POST /api/chats'} answered ${status}: ${body}`);
      const took = performance.now() - startedAt;
      this.#histogram.add(took);
      this.#longest = Math.max(this.#longest, took);
      await delay(pauseMs);
    }
    connection.close();
  }

  async during<T>(work: () => Promise<T>): Promise<Latency & { result: T }> {
    this.#histogram.reset();
    this.#longest = 0;
    const result = await Promise.race([
      work(),
      Promise.all(this.#people).then(() => Promise.reject(new Error('Nobody reads'))),
    ]);
    const [p50, p99] = [0.5, 0.99].map((share) => this.#histogram.percentile(share));
    return { result, p50: p50 ?? 0, p99: p99 ?? 0, longest: this.#longest };
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#people);
  }
}

/** Runs a command of the operator on all cores; its time, and the most memory that it had. */
async function runAdmin(bench: Bench, args: string[], env: Record<string, string>): Promise<Run> {
  const startedAt = performance.now();
  const child = spawn('taskset', ['-c', '0-1', process.execPath, join(bench.dist, 'server/admin.mjs'), ...args], {
    env: { ...process.env, DATABASE_URL: '', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (data) => {
    said += data;
  });
  let [peak, cpu] = [0, 0];
  const look = setInterval(() => {
    peak = Math.max(peak, peakBytes(child.pid ?? 0));
    cpu = Math.max(cpu, cpuSeconds(child.pid ?? 0));
  }, 100);
  const [code] = await once(child, 'close');
  clearInterval(look);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}:\n${said.slice(-2_000)}`);
  return { seconds: (performance.now() - startedAt) / 1000, cpu, peak };
}

function peakBytes(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

async function isRunning(product: Product): Promise<boolean> {
  const { backups } = (await product.call('GET', '/api/admin/backups')) as { backups: { state: string }[] };
  const [newest] = backups;
  if (newest?.state === 'failed' || newest?.state === 'lost') throw new Error('The backup by the service failed');
  return newest?.state === 'running';
}
