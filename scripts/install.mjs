// Plain JavaScript for the oldest Node that may start us: no packages, nothing newer than Node 18.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from './run.mjs';

const stampName = '.homeport-install';

/** Brings node_modules in line with package-lock.json when it is not, and returns the path of the pinned Node. */
export async function ensureInstalled(root) {
  if (!isInstalled(root)) {
    await underLock(join(root, '.cache'), async () => {
      if (!isInstalled(root)) await install(root);
    });
  }
  return ensureNode(root);
}

function isInstalled(root) {
  const modules = join(root, 'node_modules');
  const lockfile = join(root, 'package-lock.json');
  // An image without sources carries what it needs.
  if (!existsSync(lockfile)) return true;
  const stamp = join(modules, stampName);
  const hash = sha256(lockfile);
  if (existsSync(stamp)) return readFileSync(stamp, 'utf8') === hash;
  // Installed by hand with npm ci, which writes this file last.
  const byHand = join(modules, '.package-lock.json');
  if (!existsSync(byHand) || statSync(byHand).mtimeMs < statSync(lockfile).mtimeMs) return false;
  writeFileSync(stamp, hash);
  return true;
}

async function install(root) {
  const startedAt = Date.now();
  const seconds = () => Math.round((Date.now() - startedAt) / 1000);
  console.error('Homeport: installing its packages (npm ci; once, about half a minute) ...');
  const ticker = setInterval(() => console.error(`Homeport: still installing, ${seconds()} s ...`), 5_000);
  try {
    const [command, ...args] = npmCommand();
    // What builds and tests us is among the development packages, whatever NODE_ENV says.
    const ended = await run(command, [...args, 'ci', '--include=dev', '--no-audit', '--no-fund'], { cwd: root });
    if (ended.code !== 0)
      throw new Error(`npm ci failed (${ended.signal ?? `exit code ${ended.code}`}); its message is above`);
  } finally {
    clearInterval(ticker);
  }
  writeFileSync(join(root, 'node_modules', stampName), sha256(join(root, 'package-lock.json')));
  console.error(`Homeport: installed in ${seconds()} s`);
}

/** The npm that runs us, else the one on PATH. */
function npmCommand() {
  const cli = process.env.npm_execpath;
  if (cli !== undefined && /npm-cli\.c?js$/.test(cli)) return [process.execPath, cli];
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
}

/** The pinned Node's path. Its package fetches the program by an install script, which some installations leave out. */
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
  const ended = await run(process.execPath, ['installArchSpecificPackage.js'], { cwd: folder }).catch(() => ({
    code: 1,
  }));
  if (ended.code === 0 && existsSync(program)) return program;
  if (own !== undefined) {
    console.error(`Homeport: that failed; going on with this Node ${process.version}`);
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

/** One process at a time installs or builds; a lock whose owner is gone is taken over. */
export async function underLock(folder, work) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'launch.lock');
  for (let told = false; !tryLock(file); told = true) {
    if (!told) console.error('Homeport: waiting for another process that installs or builds here ...');
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
    // Written in one go after it is created: an empty one is a moment old, or left by a crash.
    if (pid === 0) return Date.now() - statSync(file).mtimeMs > 5_000;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
