// Plain JavaScript for the oldest supported Node: no packages, no features newer than Node 18.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { installCommitHook } from './commit-hook.mjs';
import { quiet, run } from './run.mjs';

const stampName = '.homeport-install';

/**
 * Updates node_modules to match package-lock.json and returns the path of the pinned Node. `packages` is `product` for
 * building and running, `all` to include checks, tests and benchmarks.
 */
export async function ensureInstalled(root, packages) {
  if (!isInstalled(root, packages)) {
    await underLock(join(root, '.cache'), async () => {
      if (!isInstalled(root, packages)) await install(root, packages);
    });
  }
  // Only developers' commands install all packages.
  if (packages === 'all') installCommitHook(root);
  return ensureNode(root);
}

function isInstalled(root, packages) {
  const lockfile = join(root, 'package-lock.json');
  // An image without sources contains what it needs.
  if (!existsSync(lockfile)) return true;
  const found = installed(root, lockfile);
  return found === 'all' || (found === 'product' && packages === 'product');
}

/** Which of this lockfile's packages are installed: `all`, `product` or undefined. */
function installed(root, lockfile) {
  const stamp = join(root, 'node_modules', stampName);
  if (existsSync(stamp)) {
    const [hash, packages = 'all'] = readFileSync(stamp, 'utf8').split(' ');
    return hash === sha256(lockfile) ? packages : undefined;
  }
  // Installed manually with npm ci, which writes this file last.
  const byHand = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(byHand) || statSync(byHand).mtimeMs < statSync(lockfile).mtimeMs) return undefined;
  const packages = readFileSync(byHand, 'utf8').includes('"dev": true') ? 'all' : 'product';
  writeFileSync(stamp, stampOf(lockfile, packages));
  return packages;
}

function stampOf(lockfile, packages) {
  return `${sha256(lockfile)} ${packages}`;
}

async function install(root, packages) {
  const startedAt = Date.now();
  const seconds = () => Math.round((Date.now() - startedAt) / 1000);
  const lockfile = join(root, 'package-lock.json');
  // If the product is installed, it can be running: add the missing packages instead of reinstalling all of them.
  const [verb, what] = installed(root, lockfile) === 'product' ? ['install', 'packages for tests'] : ['ci', 'packages'];
  console.error(`Homeport: installing ${what} (once, about half a minute) ...`);
  const ticker = setInterval(() => console.error(`Homeport: still installing, ${seconds()} s ...`), 10_000);
  try {
    const [command, ...args] = npmCommand();
    // Explicit, regardless of NODE_ENV. Warnings concern packages, and only developers who change them.
    const which = packages === 'all' ? '--include=dev' : '--omit=dev';
    const options = ['--no-save', '--no-audit', '--no-fund', '--no-progress', '--prefer-offline', '--loglevel=error'];
    const ended = await run(command, [...args, verb, which, ...options], { cwd: root, stdio: quiet });
    if (ended.code !== 0)
      throw new Error(`npm ${verb} failed (${ended.signal ?? `exit code ${ended.code}`}); its message is above`);
  } finally {
    clearInterval(ticker);
  }
  writeFileSync(join(root, 'node_modules', stampName), stampOf(lockfile, packages));
  console.error(`Homeport: installed in ${seconds()} s`);
}

/** The npm that runs us, otherwise the one on PATH. */
function npmCommand() {
  const cli = process.env.npm_execpath;
  if (cli !== undefined && /npm-cli\.c?js$/.test(cli)) return [process.execPath, cli];
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
}

/** The pinned Node's path. Its package fetches the program in an install script, which some installations skip. */
async function ensureNode(root) {
  const folder = join(root, 'node_modules', 'node');
  const program = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(program)) return program;
  const wanted = existsSync(join(folder, 'package.json')) ? readVersion(folder) : undefined;
  const own = Number(process.versions.node.split('.')[0]) >= 24 ? process.execPath : undefined;
  if (wanted === undefined) {
    if (own !== undefined) return own;
    throw new Error(
      `the package "node" is not installed and this Node is ${process.version}: run npm ci, or use Node 24`,
    );
  }
  console.error(`Homeport: fetching Node ${wanted} (the installation ran without install scripts) ...`);
  const ended = await run(process.execPath, ['installArchSpecificPackage.js'], { cwd: folder, stdio: quiet }).catch(
    () => ({
      code: 1,
    }),
  );
  if (ended.code === 0 && existsSync(program)) return program;
  if (own !== undefined) {
    console.error(`Homeport: that failed; continuing with this Node ${process.version}`);
    return own;
  }
  throw new Error(
    `Node ${wanted} could not be fetched and this Node is ${process.version}. ` +
      'Run "npm rebuild node" with a connection to the npm registry, or start Homeport with Node 24.',
  );
}

function readVersion(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
}

function sha256(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** Only one process at a time installs or builds; a lock whose owner is gone is taken over. */
export async function underLock(folder, work) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'launch.lock');
  for (let told = false; !tryLock(file); told = true) {
    if (!told) console.error('Homeport: waiting for another process to install or build ...');
    await delay(200);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function tryLock(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (isGone(file)) rmSync(file, { force: true });
    return false;
  }
}

function isGone(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    // The file is created empty and then written at once: an empty one is either new or left by a crash.
    if (pid === 0) return Date.now() - statSync(file).mtimeMs > 5_000;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
