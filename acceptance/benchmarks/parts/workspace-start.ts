import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { cpuSeconds } from '../servers/processes.ts';
import type { Product } from '../servers/product.ts';
import { median } from '../statistics.ts';

const megabyte = 1_000_000;
const atOnce = 50;

type Person = { cookie: string };

/** Measures start and stop times of workspaces in mode `local`, and their cost while idle. */
export async function measureWorkspace(bench: Bench): Promise<void> {
  const env = { WORKSPACE_MODE: 'local', TRUSTED_PROXIES: '127.0.0.1' };
  const product = await bench.freshProduct(env);
  // Sandboxes use the whole machine, as they do outside benchmarks.
  execFileSync('taskset', ['-a', '-p', '-c', '0-1023', String(product.pid)], { stdio: 'ignore' });
  const people: Person[] = [];
  const count = bench.quick ? 10 : atOnce;
  for (let index = 0; index < count; index += 1) people.push(await invite(product, index));
  const [first = { cookie: '' }] = people;
  const row = (what: string, measured: number, unit: string, most: number | undefined, note?: string) =>
    bench.report.add({
      part: 'workspace',
      what,
      measured,
      unit,
      judge: 'value' as const,
      ...(most === undefined ? {} : { limit: { at: 'most' as const, value: most } }),
      note: `load ${readFileSync('/proc/loadavg', 'utf8').split(' ')[0]}${note === undefined ? '' : `, ${note}`}`,
    });

  await timed(() => start(product, first));
  await stop(product, first);
  const starts: number[] = [];
  const stops: number[] = [];
  for (let round = 0; round < (bench.quick ? 5 : 30); round += 1) {
    starts.push(await timed(() => start(product, first)));
    stops.push(await timed(() => stop(product, first)));
  }
  row('cold start to ready, median', median(starts), 'ms', 100);
  row('cold start to ready, 95 of 100', percentile(starts, 0.95), 'ms', 250);
  row('stop, median', median(stops), 'ms', 500);

  const all = await timed(() => Promise.all(people.map((person) => start(product, person))));
  row(`${count} started at once`, all, 'ms', 4_000);
  await delay(3_000);
  const daemons = daemonPids(product);
  const before = daemons.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const memory = daemons.map((pid) => privateBytes(pid) / megabyte);
  row('private memory of an idle daemon', median(memory), 'MB', 15, `${daemons.length} daemons`);
  await delay(10_000);
  const spent = daemons.reduce((sum, pid) => sum + cpuSeconds(pid), 0) - before;
  row('processor time of all idle daemons in 10 s', spent * 1_000, 'ms', undefined);
  const allStopped = await timed(() => Promise.all(people.map((person) => stop(product, person))));
  row(`${count} stopped at once`, allStopped, 'ms', undefined);
  await product.stop();
}

async function invite(product: Product, index: number): Promise<Person> {
  const email = `person${index}@example.org`;
  const made = (await product.call('POST', '/api/invitations', { email, name: `Person ${index}` })) as {
    token: string;
  };
  const response = await fetch(`http://127.0.0.1:${product.port}/api/invitations`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.0.0.${index + 1}` },
    body: JSON.stringify({ token: made.token, name: `Person ${index}`, password: 'a-long-password-2026' }),
  });
  if (response.status !== 201) throw new Error(`PUT /api/invitations: ${response.status} ${await response.text()}`);
  return {
    cookie: response.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; '),
  };
}

async function start(product: Product, person: Person): Promise<void> {
  const answer = (await ask(product, person, 'POST')) as { ready?: boolean };
  if (answer.ready !== true) throw new Error(`It did not start: ${JSON.stringify(answer)}`);
}

/** Until it is gone, not just requested. */
async function stop(product: Product, person: Person): Promise<void> {
  const running = daemonPids(product).length;
  await ask(product, person, 'DELETE');
  while (running > 0 && daemonPids(product).length >= running) await delay(2);
}

async function ask(product: Product, { cookie }: Person, method: string): Promise<unknown> {
  const address = `http://127.0.0.1:${product.port}/api/workspace/status`;
  const response = await fetch(address, { method, headers: { cookie, origin: `http://127.0.0.1:${product.port}` } });
  if (!response.ok) throw new Error(`${method} /api/workspace/status: ${response.status} ${await response.text()}`);
  return response.json();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function percentile(values: readonly number[], part: number): number {
  return [...values].sort((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? Number.NaN;
}

/** Processes of daemons of this build, by their command line and their own users. */
function daemonPids(product: Product): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const line = text(`/proc/${pid}/cmdline`);
      return (
        line.startsWith('/opt/homeport/bin/node\0') &&
        text(`/proc/${pid}/mountinfo`).includes(`${basename(product.dataDir)}/workspaces/`)
      );
    });
}

function privateBytes(pid: number): number {
  const rollup = text(`/proc/${pid}/smaps_rollup`);
  const kilobytes = [...rollup.matchAll(/^Private_\w+:\s+(\d+) kB$/gm)].reduce(
    (sum, [, size]) => sum + Number(size),
    0,
  );
  return kilobytes * 1_024;
}

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
