import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeBlocks } from './artifacts.ts';
import { type Bench, interleave } from './bench.ts';
import { type Nginx, startNginx } from './nginx.ts';
import { cores } from './processes.ts';
import { type Product, scratchFolder } from './product.ts';
import { median } from './statistics.ts';

const mebibyte = 1024 ** 2;
const targets = ['artifact', 'workspace', 'nginx'] as const;
type Target = (typeof targets)[number];

/**
 * One file up by `curl`, as an artifact and into a workspace, against nginx's PUT of the same file to the same disk.
 * All run on one core; nginx's PUT is followed by a sync, because Homeport answers an upload after it is on disk.
 */
export async function measureUploads(bench: Bench): Promise<void> {
  const size = (bench.quick ? 64 : 512) * mebibyte;
  const product = await bench.freshProduct({ WORKSPACE_MODE: 'local', ARTIFACT_MAX_UPLOAD_BYTES: String(2 * size) });
  await product.call('POST', '/api/workspace/status');
  const folder = scratchFolder();
  const nginx = await startNginx(folder);
  try {
    if (nginx === undefined) throw new Error('There is no nginx to compare with: install it, or name it in NGINX');
    await compare(bench, product, nginx, folder, size);
  } finally {
    nginx?.stop();
    await product.call('DELETE', '/api/workspace/status');
    await product.stop();
  }
}

async function compare(bench: Bench, product: Product, nginx: Nginx, folder: string, size: number): Promise<void> {
  const source = join(folder, 'source');
  const answer = join(folder, 'answer');
  await writeBlocks(source, size);
  const [chatId = ''] = await product.createChats(1);
  const api = `http://127.0.0.1:${product.port}/api`;
  const form = (field: string) => [
    '-H',
    `cookie: ${product.cookie}`,
    '-F',
    field,
    '-F',
    `file=@${source};filename=big.bin`,
  ];
  const args: Record<Target, string[]> = {
    artifact: [...form(`chatId=${chatId}`), `${api}/artifacts`],
    workspace: [...form('path=~/big.bin'), `${api}/workspace/files`],
    nginx: ['-T', source, `http://127.0.0.1:${nginx.davPort}/put/big.bin`],
  };
  const cleanUp: Record<Target, () => Promise<unknown>> = {
    async artifact() {
      const { artifact }: { artifact: { id: string } } = JSON.parse(readFileSync(answer, 'utf8'));
      return product.call('DELETE', `/api/artifacts?${new URLSearchParams({ chatId, id: artifact.id })}`);
    },
    workspace: () => product.call('DELETE', `/api/workspace/files?path=${encodeURIComponent('~/big.bin')}`),
    nginx: async () => rmSync(join(folder, 'put/big.bin')),
  };
  const rates: Record<Target, number[]> = { artifact: [], workspace: [], nginx: [] };
  await interleave(bench.rounds + 1, targets, async (target, round) => {
    const startedAt = performance.now();
    upload(args[target], answer);
    if (target === 'nginx') execFileSync('taskset', ['-c', String(cores.subject), 'sync', join(folder, 'put/big.bin')]);
    // The first round is a warm-up for the disk and the programs.
    if (round > 0) rates[target].push(((size / mebibyte) * 1000) / (performance.now() - startedAt));
    await cleanUp[target]();
  });
  const compared = { name: 'nginx PUT', value: median(rates.nginx) };
  for (const target of ['artifact', 'workspace'] as const) {
    bench.report.add({
      part: 'uploads',
      what: `upload of ${size / mebibyte} MiB, ${target}`,
      unit: 'MiB/s',
      compared,
      measured: median(rates[target]),
      judge: 'ratio',
      limit: { at: 'least', value: 0.6 },
    });
  }
}

/** By another program on the other core; throws unless the answer is 2xx. */
function upload(args: string[], answer: string): void {
  const curl = ['-c', String(cores.load), 'curl', '-sS', '-H', 'expect:', '-o', answer, '-w', '%{http_code}'];
  const status = execFileSync('taskset', [...curl, ...args]).toString();
  if (!/^2\d\d$/.test(status)) throw new Error(`The upload answered ${status}: ${readFileSync(answer, 'utf8')}`);
}
