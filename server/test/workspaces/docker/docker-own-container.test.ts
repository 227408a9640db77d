import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { RuntimeFailure } from '../../../src/workspaces/runtime.ts';
import { connectEngine } from '../../../src/workspaces/runtimes/docker/engine.ts';
import { enginePathOf } from '../../../src/workspaces/runtimes/docker/probe.ts';
import { tryDockerRuntime } from '../../../src/workspaces/runtimes/docker/try-docker.ts';
import { testConfig } from '../../app.ts';

/** Detection of Homeport's own container, and the container that `doctor` runs, with a scripted engine. */

type Container = { Id: string; Name: string; Mounts: { Source: string; Destination: string }[]; UpperDir?: string };
type Mount = { Type: string; Source: string; Target: string };

const own = 'a1'.repeat(32);
const other = 'b2'.repeat(32);
let folder: string;
let server: Server;
let containers: Container[];
let hasImage: boolean;
/** Plays a container with its mounts; returns its exit code. */
let run: (mounts: Mount[], token: string) => Promise<number>;
let volumes: string[];
let created: { HostConfig: { Mounts: Mount[]; NetworkMode: string }; Env: string[]; Labels?: unknown } | undefined;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hp-own-'));
  server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://engine');
    const text = (await request.toArray()).join('');
    const [status, body] = await answer(`${request.method} ${pathname}`, text);
    response.writeHead(status, { 'content-type': 'application/json' }).end(status === 204 ? '' : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(join(folder, 'engine.sock'), resolve));
});
beforeEach(() => {
  containers = [];
  hasImage = true;
  created = undefined;
  volumes = [];
  run = async () => 0;
});
after(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

async function answer(route: string, body: string): Promise<[number, unknown]> {
  const missing: [number, unknown] = [404, { message: 'no such thing' }];
  if (route === 'GET /info') return [200, { OSType: 'linux', SecurityOptions: ['name=seccomp,profile=builtin'] }];
  if (/^GET \/images\//.test(route)) return hasImage ? [200, {}] : missing;
  if (route === 'GET /containers/json') return [200, containers.map(({ Id }) => ({ Id }))];
  const [, name] = /^GET \/containers\/([^/]+)\/json$/.exec(route) ?? [];
  if (name !== undefined) {
    const found = containers.find(({ Id, Name }) => Id.startsWith(name) || Name === `/${name}`);
    return found === undefined ? missing : [200, { ...found, GraphDriver: { Data: { UpperDir: found.UpperDir } } }];
  }
  if (route === 'POST /volumes/create') volumes.push(JSON.parse(body).Name);
  if (/^GET \/volumes\//.test(route)) return missing;
  if (/^DELETE \/volumes\//.test(route)) volumes = volumes.filter((volume) => !route.endsWith(volume));
  if (route === 'POST /containers/create') {
    created = JSON.parse(body);
    return [201, { Id: 'c3'.repeat(32) }];
  }
  if (/\/wait$/.test(route) && created !== undefined) {
    const token = created.Env.find((line) => line.startsWith('TOKEN='))?.slice('TOKEN='.length) ?? '';
    return [200, { StatusCode: await run(created.HostConfig.Mounts, token) }];
  }
  return route.startsWith('POST /volumes') ? [201, {}] : [204, undefined];
}

const config = () => ({
  ...testConfig,
  dataDir: join(folder, 'data'),
  workspaceDockerHost: `unix://${folder}/engine.sock`,
});
const engine = () => connectEngine(config());

/** A machine's files as a process in a container sees them. */
async function surroundings(name: string, files: Record<string, string>, hostname: string) {
  const root = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return { root, hostname };
}

const mounts = [{ Source: '/var/lib/docker/volumes/data/_data', Destination: '/data' }];
const wrong = [{ Source: '/srv/other', Destination: '/data' }];
const etcMounts = (id: string) =>
  ['hostname', 'hosts', 'resolv.conf']
    .map((file) => `12 11 8:1 /var/lib/docker/containers/${id}/${file} /etc/${file} rw - ext4 /dev/sda1 rw`)
    .join('\n');
const overlay = (upper: string) =>
  `10 9 0:50 / / rw - overlay overlay rw,lowerdir=/l/A:/l/B,upperdir=${upper},workdir=/work\n`;

const cases: Record<string, { files: Record<string, string>; hostname: string; path: string }> = {
  'a custom host name': {
    files: { '.dockerenv': '', 'proc/self/mountinfo': etcMounts(own) },
    hostname: 'chat.example.org',
    path: '/var/lib/docker/volumes/data/_data/docker',
  },
  'a host name that is the name of another container': {
    files: { '.dockerenv': '', 'proc/self/mountinfo': etcMounts(own) },
    hostname: 'homeport',
    path: '/var/lib/docker/volumes/data/_data/docker',
  },
  'the network of the machine, and so its name': {
    files: { '.dockerenv': '', 'proc/self/mountinfo': overlay('/x') + etcMounts(own) },
    hostname: 'machine',
    path: '/var/lib/docker/volumes/data/_data/docker',
  },
  'control groups of version 1': {
    files: { '.dockerenv': '', 'proc/self/cgroup': `12:pids:/docker/${own}\n1:name=systemd:/docker/${own}\n` },
    hostname: 'chat',
    path: '/var/lib/docker/volumes/data/_data/docker',
  },
  'systemd as the driver of control groups': {
    files: { '.dockerenv': '', 'proc/self/cgroup': `0::/system.slice/docker-${own}.scope\n` },
    hostname: 'chat',
    path: '/var/lib/docker/volumes/data/_data/docker',
  },
  Podman: {
    files: {
      'run/.containerenv': '',
      'proc/self/mountinfo': `12 11 0:24 /containers/overlay-containers/${own}/userdata/hosts /etc/hosts rw - tmpfs tmpfs rw`,
    },
    hostname: 'chat',
    path: '/var/lib/docker/volumes/data/_data/docker',
  },
  'nothing but its root file system': {
    files: { '.dockerenv': '', 'proc/self/mountinfo': overlay('/var/lib/docker/overlay2/own/diff') },
    hostname: 'chat',
    path: '/var/lib/docker/volumes/data/_data/docker',
  },
  'the default host name': {
    files: { '.dockerenv': '' },
    hostname: own.slice(0, 12),
    path: '/var/lib/docker/volumes/data/_data/docker',
  },
  'no container, on a machine that runs some': {
    files: {
      'proc/self/mountinfo': `40 20 0:51 / /var/lib/docker/overlay2/${other}/merged rw - overlay overlay rw`,
      'proc/self/cgroup': '0::/user.slice/session-1.scope\n',
    },
    hostname: 'homeport',
    path: '/data/docker',
  },
};

for (const [name, { files, hostname, path }] of Object.entries(cases)) {
  test(`finds the engine's path of DATA_DIR with ${name}`, async () => {
    containers = [
      { Id: other, Name: '/homeport', Mounts: wrong, UpperDir: '/var/lib/docker/overlay2/other/diff' },
      { Id: own, Name: '/chat-1', Mounts: mounts, UpperDir: '/var/lib/docker/overlay2/own/diff' },
    ];
    const place = await surroundings(name.replaceAll(' ', '-').slice(0, 30), files, hostname);
    assert.equal(await enginePathOf(engine(), '/data/docker', place), path);
  });
}

test('doctor mounts what a workspace mounts, and leaves nothing behind', async () => {
  run = async (given, token) => {
    const sourceOf = (target: string) => given.find(({ Target }) => Target === target)?.Source ?? '';
    assert.equal(await readFile(join(sourceOf('/run/workspace'), 'token'), 'utf8'), token);
    assert.match(sourceOf('/home/user'), /^homeport-home-trial-/);
    await writeFile(join(sourceOf('/run/daemon'), 'answer'), '');
    return 0;
  };
  assert.match(await tryDockerRuntime(config()), /with a home and the folders of a workspace/);
  assert.equal(created?.HostConfig.NetworkMode, 'none');
  assert.equal(created?.Labels, undefined);
  assert.deepEqual([volumes, await readdir(join(folder, 'data/docker'))], [[], []]);
});

test('doctor reports an engine with other folders than Homeport', async () => {
  for (const code of [4, 0]) {
    run = async () => code;
    await assert.rejects(tryDockerRuntime(config()), (error) => {
      return error instanceof RuntimeFailure && /do not see the folders.*another .*data\/docker/.test(error.message);
    });
    assert.deepEqual([volumes, await readdir(join(folder, 'data/docker'))], [[], []]);
  }
});

test('explains a missing image with the recipe that builds it', async () => {
  hasImage = false;
  await assert.rejects(tryDockerRuntime(config()), /docker build -f deploy\/Dockerfile --target workspace/);
});
