import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Bench, interleave } from '../bench.ts';
import { Connection } from '../load/connection.ts';
import { cores, residentBytes } from '../servers/processes.ts';
import { type Product, scratchFolder } from '../servers/product.ts';
import { median, quantile } from '../statistics.ts';

const few = 100;
const many = 100_000;
const gibibyte = 1024 ** 3;
const mebibyte = 1024 ** 2;

/** Files: lists and searches with many against few, and one of 1 GiB up and down against `cp` on the same disk. */
export async function measureArtifacts(bench: Bench): Promise<void> {
  const product = await bench.freshProduct({ ARTIFACT_MAX_UPLOAD_BYTES: String(2 * gibibyte) });
  await compareLists(bench, product);
  await compareTransfers(bench, product);
  await product.stop();
}

const asked = [
  ['list, page of 100', {}],
  ['list of a folder', { prefix: 'folder-00001' }],
  ['search, a rare word', { q: 'report-0000042' }],
  ['search, a word of every path', { q: 'REPORT' }],
  ['search, a word of no path', { q: 'nowhere' }],
  ['search, two letters', { q: 're' }],
] as const;

async function compareLists(bench: Bench, product: Product): Promise<void> {
  const [small, large] = await product.createChats(2);
  if (small === undefined || large === undefined) throw new Error('no conversations');
  await fill(product, small, few);
  await fill(product, large, many);
  const samples = bench.quick ? 200 : 1000;
  const connection = await Connection.open(product.port);
  const ask = async (chatId: string, query: object, count: number): Promise<number[]> => {
    const path = `/api/artifacts?${new URLSearchParams({ chatId, ...query })}`;
    const text = connection.requestText('GET', path, product.cookie);
    const times: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const startedAt = performance.now();
      const answer = await connection.exchange(text);
      times.push(performance.now() - startedAt);
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.body}`);
    }
    return times;
  };
  for (const [what, query] of asked) {
    const times = new Map<string, number[]>([
      [small, []],
      [large, []],
    ]);
    for (const chatId of [small, large]) await ask(chatId, query, 50);
    await interleave(bench.rounds, [small, large], async (chatId) => {
      times.get(chatId)?.push(...(await ask(chatId, query, samples)));
    });
    bench.report.add({
      part: 'artifacts',
      what: `${what}: p99 with ${many} files`,
      unit: 'ms',
      measured: quantile(times.get(large) ?? [], 0.99),
      compared: { name: `with ${few}`, value: quantile(times.get(small) ?? [], 0.99) },
      judge: 'ratio',
      limit: { at: 'most', value: 3 },
    });
  }
  connection.close();
}

/** Rows as the product writes them, all with one content. */
async function fill(product: Product, chatId: string, count: number): Promise<void> {
  const client = await product.openDatabase();
  const sha256 = '0'.repeat(64);
  await client.query(`insert into blobs (sha256, key, size) values ($1, 'none', 10) on conflict do nothing`, [sha256]);
  const path = `'folder-' || lpad((n / 50)::text, 5, '0') || '/Report-' || lpad(n::text, 7, '0') || '.txt'`;
  await client.query(
    `insert into artifacts (id, chat_id, path, search, media_type, size, sha256)
     select gen_random_uuid(), $1, ${path}, lower(${path}), 'text/plain', 10, $2 from generate_series(1, $3::int) n`,
    [chatId, sha256, count],
  );
  await client.query('vacuum analyze artifacts');
  await client.end();
}

async function compareTransfers(bench: Bench, product: Product): Promise<void> {
  const [chatId = ''] = await product.createChats(1);
  const folder = scratchFolder();
  const [source, target] = [join(folder, 'source'), join(folder, 'target')];
  const size = bench.quick ? gibibyte / 4 : gibibyte;
  await writeBlocks(source, size);
  const megabytes = size / mebibyte;
  const rates: Record<'cp' | 'up' | 'down', number[]> = { cp: [], up: [], down: [] };
  const growth: number[] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    rates.cp.push(megabytes / seconds(() => copy(source, target)));
    rmSync(target);
    const before = residentBytes(product.pid);
    const watch = watchPeak(product.pid);
    const startedAt = performance.now();
    const id = await sendFile(product, chatId, source, size);
    rates.up.push((megabytes * 1000) / (performance.now() - startedAt));
    const downAt = performance.now();
    await fetchFile(product, chatId, id, size);
    rates.down.push((megabytes * 1000) / (performance.now() - downAt));
    growth.push((watch.stop() - before) / mebibyte);
    await product.call('DELETE', `/api/artifacts?${new URLSearchParams({ chatId, id })}`);
  }
  const compared = { name: 'cp and sync', value: median(rates.cp) };
  for (const [what, measured] of [
    ['upload', median(rates.up)],
    ['download', median(rates.down)],
  ] as const) {
    bench.report.add({
      part: 'artifacts',
      what: `${what} of ${megabytes} MiB`,
      measured,
      unit: 'MiB/s',
      compared,
      judge: 'ratio',
      limit: { at: 'least', value: 0.6 },
    });
  }
  bench.report.add({
    part: 'artifacts',
    what: `resident size, growth over ${megabytes} MiB up and down`,
    unit: 'MiB',
    measured: Math.max(...growth),
    judge: 'value',
    limit: { at: 'most', value: 64 },
  });
}

/** A file of random bytes, which no disk can compress. */
async function writeBlocks(file: string, size: number): Promise<void> {
  await pipeline(blocks(size), createWriteStream(file));
}

function blocks(size: number): Readable {
  const block = randomBytes(mebibyte);
  return Readable.from(
    (function* () {
      for (let left = size; left > 0; left -= block.length) {
        block.writeUInt32LE(left >>> 10, 0);
        yield Buffer.from(block);
      }
    })(),
  );
}

/** Synced to disk, as an upload is when it is acknowledged. */
function copy(source: string, target: string): void {
  execFileSync('sh', ['-c', `taskset -c ${cores.subject} cp "$1" "$2" && sync "$2"`, 'sh', source, target]);
}

function seconds(work: () => void): number {
  const startedAt = performance.now();
  work();
  return (performance.now() - startedAt) / 1000;
}

async function sendFile(product: Product, chatId: string, file: string, size: number): Promise<string> {
  const text = await sendForm(product, '/api/artifacts', { chatId }, file, size);
  const { artifact }: { artifact: { id: string } } = JSON.parse(text);
  return artifact.id;
}

/** Uploads a file as browsers do; returns the response's body. */
export async function sendForm(
  product: Product,
  path: string,
  fields: Record<string, string>,
  file: string,
  size: number,
): Promise<string> {
  const boundary = `bench-${randomUUID()}`;
  const part = (name: string) => `--${boundary}\r\ncontent-disposition: form-data; name=${name}\r\n`;
  const texts = Object.entries(fields).map(([name, value]) => `${part(`"${name}"`)}\r\n${value}\r\n`);
  const head = `${texts.join('')}${part('"file"; filename="big.bin"')}\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const sending = request({
    host: '127.0.0.1',
    port: product.port,
    method: 'POST',
    path,
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': head.length + size + tail.length,
      cookie: product.cookie,
    },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sending.once('response', resolve).once('error', reject);
  });
  sending.write(head);
  await pipeline(createReadStream(file, { highWaterMark: mebibyte }), sending, { end: false });
  sending.end(tail);
  const answer = await answered;
  const text = Buffer.concat(await answer.toArray()).toString();
  if (answer.statusCode !== 201) throw new Error(`The upload answered ${answer.statusCode}: ${text}`);
  return text;
}

async function fetchFile(product: Product, chatId: string, id: string, size: number): Promise<void> {
  const path = `/api/artifacts/download?${new URLSearchParams({ chatId, id })}`;
  const asking = request({ host: '127.0.0.1', port: product.port, path, headers: { cookie: product.cookie } });
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    asking.once('response', resolve).once('error', reject);
    asking.end();
  });
  let received = 0;
  answer.on('data', (chunk: Buffer) => (received += chunk.length));
  await new Promise<void>((resolve, reject) => answer.once('end', resolve).once('error', reject));
  if (received !== size) throw new Error(`The download had ${received} bytes`);
}

/** Peak resident size between the call and `stop`, from the kernel's counter, which this resets. */
export function watchPeak(pid: number): { stop(): number } {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  return {
    stop: () => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024,
  };
}
