// Runs workspaces in containers of a real engine: that of DOCKER_HOST, otherwise a new one in a temporary folder, which
// is ended afterwards. The image is built from this machine's own programs, in seconds and without a registry.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../run.mjs';

const root = join(import.meta.dirname, '../..');
const image = 'homeport-workspace-test:latest';
const startMs = 30_000;

// Programs for a workspace and its tests; each is copied with its linked libraries.
const programs = [
  ...[
    'bash',
    'sh',
    'perl',
    'curl',
    'find',
    'hostname',
    'dmesg',
    'mount',
    'unshare',
    'nsenter',
    'tar',
    'grep',
    'sed',
    'awk',
    'ps',
  ],
  ...[
    'cat',
    'chmod',
    'chown',
    'chroot',
    'cp',
    'date',
    'dd',
    'dirname',
    'echo',
    'env',
    'head',
    'id',
    'ln',
    'ls',
    'mkdir',
    'mkfifo',
    'mknod',
    'mv',
    'rm',
  ],
  ...[
    'readlink',
    'sleep',
    'sort',
    'stat',
    'tail',
    'touch',
    'tr',
    'true',
    'uname',
    'wc',
    'whoami',
    'seq',
    'test',
    'sync',
    'du',
    'nice',
    'prlimit',
    'md5sum',
    'git',
    'jq',
    'tee',
    'ln',
    'install',
    'truncate',
    'split',
    'unlink',
    'shred',
    'uniq',
    'xargs',
    'timeout',
    'setsid',
    'nohup',
    'gzip',
  ],
];

/** Why no engine is available here; undefined if one is. */
export function whyNoEngine() {
  if (process.env.DOCKER_HOST) return undefined;
  if (process.platform !== 'linux') return 'this is not Linux, and DOCKER_HOST names no engine';
  const missing = ['dockerd', 'containerd', 'runc', 'docker-init', 'iptables', 'unshare'].filter(
    (name) => which(name) === undefined,
  );
  if (missing.length > 0)
    return `${missing.join(', ')} not installed (Debian: docker.io), and DOCKER_HOST names no engine`;
  return process.getuid() === 0 ? undefined : 'only root may start an engine, and DOCKER_HOST names none';
}

/** Runs `work` with the address of an engine and the name of an image in it. */
export async function withEngine(work) {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-engine-'));
  const engine = process.env.DOCKER_HOST
    ? { host: process.env.DOCKER_HOST, async stop() {} }
    : await startEngine(folder);
  try {
    await makeImage(engine.host, folder);
    return await work({ HOMEPORT_TEST_DOCKER_HOST: engine.host, HOMEPORT_TEST_DOCKER_IMAGE: image });
  } finally {
    await engine.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function startEngine(folder) {
  const socket = join(folder, 'docker.sock');
  const log = join(folder, 'log');
  // In its own network: an engine without a bridge removes another engine's bridge. Workspaces have no network anyway.
  const folders = [
    '--data-root',
    join(folder, 'data'),
    '--exec-root',
    join(folder, 'exec'),
    '--pidfile',
    join(folder, 'pid'),
  ];
  const args = [...folders, '--bridge=none', '--iptables=false', '--ip-forward=false', '-H', `unix://${socket}`];
  const child = spawn('sh', ['-c', 'exec unshare --net dockerd "$@" > "$0" 2>&1', log, ...args], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    // Left behind if the engine ended before it removed them.
    for (const path of mountsBelow(folder)) spawnSync('umount', ['-l', path]);
  };
  for (const until = Date.now() + startMs; Date.now() < until && child.exitCode === null; ) {
    if ((await ask(`unix://${socket}`, 'GET', '/_ping').catch(() => undefined))?.status === 200)
      return { host: `unix://${socket}`, stop };
    await delay(100);
  }
  await stop();
  throw new EngineFailure(readFileSync(log, 'utf8').trim().split('\n').slice(-5).join('\n'));
}

/** The engine exists but did not start: this machine does not allow it. */
export class EngineFailure extends Error {}

function mountsBelow(folder) {
  const paths = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  return paths.filter((path) => path.startsWith(`${folder}/`)).reverse();
}

async function makeImage(host, folder) {
  const tree = join(folder, 'image');
  for (const path of [
    'etc',
    'home/user',
    'opt/homeport',
    'proc',
    'root',
    'run',
    'sys',
    'tmp',
    'usr/bin',
    'usr/sbin',
    'dev',
    'var',
  ]) {
    mkdirSync(join(tree, path), { recursive: true });
  }
  writeFileSync(
    join(tree, 'etc/passwd'),
    'root:x:0:0:root:/root:/bin/bash\nuser:x:1000:1000:user:/home/user:/bin/bash\n',
  );
  writeFileSync(join(tree, 'etc/group'), 'root:x:0:\nuser:x:1000:\n');
  writeFileSync(join(tree, 'etc/shadow'), 'root:*:1:0:99999:7:::\n', { mode: 0o600 });
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    mkdirSync(join(tree, 'usr', name), { recursive: true });
    execFileSync('ln', ['-s', `usr/${name}`, join(tree, name)]);
  }
  const files = new Set([...programs.map(which).filter((path) => path !== undefined), ...perlModules()]);
  for (const file of [...files, process.execPath]) for (const library of librariesOf(file)) files.add(library);
  for (const file of files) copyInto(tree, file, file);
  copyInto(tree, process.execPath, '/usr/bin/node');
  cpSync(join(root, 'dist/workspace'), join(tree, 'opt/homeport'), { recursive: true });
  if (existsSync('/usr/lib/locale/C.utf8')) {
    cpSync('/usr/lib/locale/C.utf8', join(tree, 'usr/lib/locale/C.utf8'), { recursive: true });
  }
  execFileSync('chown', ['-R', '0:0', tree]);
  execFileSync('chmod', ['1777', join(tree, 'tmp')]);
  execFileSync('chown', ['1000:1000', join(tree, 'home/user')]);
  execFileSync('chmod', ['700', join(tree, 'home/user'), join(tree, 'root')]);
  const tar = spawn('tar', ['-C', tree, '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const changes = [
    'USER 1000:1000',
    'WORKDIR /home/user',
    'ENV LANG=C.UTF-8',
    'ENTRYPOINT ["/usr/bin/node", "/opt/homeport/daemon.cjs"]',
  ];
  const query = new URLSearchParams([
    ['fromSrc', '-'],
    ['repo', image.split(':')[0]],
    ['tag', 'latest'],
    ...changes.map((change) => ['changes', change]),
  ]);
  const { status, text } = await ask(host, 'POST', `/images/create?${query}`, tar.stdout);
  if (status !== 200) throw new Error(`the image could not be made: ${text}`);
}

function copyInto(tree, from, to) {
  const folder = join(tree, realpathIfThere(dirname(to)));
  mkdirSync(folder, { recursive: true });
  copyFileSync(from, join(folder, basename(to)));
}

/** /lib is a link to /usr/lib here and in the image. */
function realpathIfThere(path) {
  return existsSync(path) ? realpathSync(path) : path;
}

function librariesOf(file) {
  const { stdout } = spawnSync('ldd', [file], { encoding: 'utf8' });
  return [...(stdout ?? '').matchAll(/(?:=> )?(\/\S+) \(0x/g)].map((match) => match[1]);
}

function perlModules() {
  return globSync('/usr/lib/*/perl-base/{strict,warnings}.pm');
}

function which(name) {
  return ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
    .map((folder) => join(folder, name))
    .find(existsSync);
}

function ask(host, method, path, body) {
  const address = host.startsWith('unix://')
    ? { socketPath: host.slice('unix://'.length) }
    : new URL(host.replace(/^tcp:/, 'http:'));
  const place = address instanceof URL ? { host: address.hostname, port: address.port } : address;
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...place, method, path, headers: { host: 'docker' } }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      incoming.on('end', () => resolve({ status: incoming.statusCode, text }));
    });
    outgoing.on('error', reject);
    if (body === undefined) outgoing.end();
    else body.pipe(outgoing);
  });
}

/** Manual use: `node scripts/test/test-docker.mjs [file]`, after `npm run build`. */
if (process.argv[1] === import.meta.filename) {
  const why = whyNoEngine();
  if (why === undefined) {
    const chosen = process.argv.slice(2);
    const files =
      chosen.length > 0 ? chosen : globSync('{server/test/workspaces,acceptance}/docker/*.test.ts', { cwd: root });
    const args = ['--test', '--test-concurrency=1', ...files];
    const { code } = await withEngine((env) =>
      run(process.execPath, args, { cwd: root, env: { ...process.env, ...env } }),
    );
    process.exitCode = code ?? 1;
  } else {
    console.error(`skipped: ${why}`);
    process.exitCode = 1;
  }
}
