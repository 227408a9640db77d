import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { copy, seconds, sendForm, watchPeak, writeBlocks } from './artifacts.ts';
import { type Bench, interleave } from './bench.ts';
import { type Nginx, startNginx } from './nginx.ts';
import { cores, residentBytes } from './processes.ts';
import { type Product, scratchFolder } from './product.ts';
import { median } from './statistics.ts';

const gibibyte = 1024 ** 3;
const mebibyte = 1024 ** 2;

/**
 * One large file through the service into a workspace and back, against `cp` and against nginx in front of nginx (the
 * `nginx` on the path, or NGINX) in the same minutes.
 */
export async function measureWorkspaceFiles(bench: Bench): Promise<void> {
  const env = { WORKSPACE_MODE: 'local', ARTIFACT_MAX_UPLOAD_BYTES: String(2 * gibibyte) };
  const product = await bench.freshProduct(env);
  await product.call('POST', '/api/workspace/status');
  const folder = scratchFolder();
  const size = bench.quick ? gibibyte / 4 : gibibyte;
  const source = join(folder, 'source');
  await writeBlocks(source, size);
  const nginx = await startNginx(folder);
  try {
    await compare(bench, product, { folder, source, size, nginx });
  } finally {
    nginx?.stop();
    await product.call('DELETE', '/api/workspace/status');
    await product.stop();
  }
}

type Given = { folder: string; source: string; size: number; nginx: Nginx | undefined };

async function compare(bench: Bench, product: Product, { folder, source, size, nginx }: Given): Promise<void> {
  const megabytes = size / mebibyte;
  const rates: Record<'cp' | 'up' | 'down' | 'nginx', number[]> = { cp: [], up: [], down: [], nginx: [] };
  const daemonPid = findDaemon(product);
  const growth: Record<'service' | 'daemon', number[]> = { service: [], daemon: [] };
  const url = `http://127.0.0.1:${product.port}/api/workspace/download?path=~/large.bin`;
  for (let round = 0; round < bench.rounds; round += 1) {
    const pids = { service: product.pid, daemon: daemonPid };
    const before = { service: residentBytes(pids.service), daemon: residentBytes(pids.daemon) };
    const peaks = { service: watchPeak(pids.service), daemon: watchPeak(pids.daemon) };
    rates.cp.push(megabytes / seconds(() => copy(source, join(folder, 'target'))));
    rmSync(join(folder, 'target'));
    const startedAt = performance.now();
    await sendForm(product, '/api/workspace/files', { path: '~/large.bin' }, source, size);
    rates.up.push((megabytes * 1000) / (performance.now() - startedAt));
    await interleave(2, ['down', 'nginx'] as const, async (what) => {
      if (what === 'nginx' && nginx === undefined) return;
      const asked = what === 'down' ? url : `http://127.0.0.1:${nginx?.port}/source`;
      rates[what].push(megabytes / fetchSeconds(asked, product.cookie, size));
    });
    for (const who of ['service', 'daemon'] as const) growth[who].push((peaks[who].stop() - before[who]) / mebibyte);
    await product.call('DELETE', `/api/workspace/files?path=${encodeURIComponent('~/large.bin')}`);
  }
  const part = 'workspace-files';
  bench.report.add({
    part,
    what: `upload of ${megabytes} MiB into a workspace`,
    measured: median(rates.up),
    unit: 'MiB/s',
    compared: { name: 'cp and sync', value: median(rates.cp) },
    judge: 'ratio',
    limit: { at: 'least', value: 0.6 },
  });
  if (rates.nginx.length === 0)
    throw new Error('There is no nginx to compare downloads with: install it, or name it in NGINX');
  bench.report.add({
    part,
    what: `download of ${megabytes} MiB from a workspace`,
    measured: median(rates.down),
    unit: 'MiB/s',
    compared: { name: 'nginx in front of nginx', value: median(rates.nginx) },
    judge: 'ratio',
    limit: { at: 'least', value: 0.8 },
  });
  for (const who of ['service', 'daemon'] as const) {
    bench.report.add({
      part,
      what: `resident size of the ${who}, growth over ${megabytes} MiB up and down`,
      unit: 'MiB',
      measured: Math.max(...growth[who]),
      judge: 'value',
      limit: { at: 'most', value: 100 },
    });
  }
}

/** By another program on the other core, which discards the bytes. */
function fetchSeconds(url: string, cookie: string, size: number): number {
  const args = ['-c', String(cores.load), 'curl', '-sS', '-o', '/dev/null', '-H', `cookie: ${cookie}`];
  const facts = execFileSync('taskset', [...args, '-w', '%{http_code} %{size_download} %{time_total}', url]);
  const [status, bytes, took] = facts.toString().split(' ').map(Number);
  if (status !== 200 || bytes !== size || took === undefined) throw new Error(`The download answered ${facts}`);
  return took;
}

/** The daemon of this product's only workspace: its home is in the product's data folder. */
function findDaemon({ dataDir }: Product): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const isDaemon = (pid: string) =>
    /daemon[^\0/]*\0?$/.test(readText(`/proc/${pid}/cmdline`)) &&
    readText(`/proc/${pid}/mountinfo`).includes(`${basename(dataDir)}/`);
  // Others with that name only hold the sandbox: the daemon has already read files.
  const found = pids.filter(isDaemon).map(Number);
  const daemon = found.sort((one, other) => residentBytes(one) - residentBytes(other)).at(-1);
  if (daemon === undefined) throw new Error('The daemon of the workspace is not to be seen');
  return daemon;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
