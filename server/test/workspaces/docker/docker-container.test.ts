import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseDockerHost } from '../../../src/config/setting-values.ts';
import { RuntimeFailure } from '../../../src/workspaces/runtime.ts';
import { containerOptions } from '../../../src/workspaces/runtimes/docker/container.ts';
import { holdSocket } from '../../../src/workspaces/runtimes/docker/daemon-socket.ts';
import { testConfig } from '../../app.ts';

/** Tests without an engine; the others are in docker/. */

const workspace = { id: 'ada', generation: 7, slot: 1, daemonTokenHash: 'a-hash', workspaceToken: 'wst_a-token' };
const folders = { workspace: '/host/ada/7/workspace', daemon: '/host/ada/7/daemon' };

test('a container has the strictest options, and none of them contains a secret', () => {
  const options = containerOptions(testConfig, 'an-installation', workspace, folders, true);
  const serialized = JSON.stringify(options);
  assert.ok(!serialized.includes(workspace.workspaceToken) && !serialized.includes(workspace.daemonTokenHash));
  const { HostConfig: host, ...rest } = options;
  assert.deepEqual(
    [
      rest.User,
      host?.NetworkMode,
      host?.ReadonlyRootfs,
      host?.CapDrop,
      host?.SecurityOpt,
      host?.Privileged,
      host?.PortBindings,
    ],
    ['1000:1000', 'none', true, ['ALL'], ['no-new-privileges'], undefined, undefined],
  );
  assert.equal(host?.Memory, 1024 * 1024 * 1024);
  assert.equal(host?.MemorySwap, host?.Memory);
  const mounts = host?.Mounts?.map(({ Type, Source, Target, ReadOnly }) => [Type, Source, Target, ReadOnly === true]);
  assert.deepEqual(mounts, [
    ['volume', 'homeport-home-ada', '/home/user', false],
    ['bind', folders.workspace, '/run/workspace', true],
    ['bind', folders.daemon, '/run/daemon', false],
  ]);
});

test('settings are passed to the container', () => {
  const config = {
    ...testConfig,
    workspaceMemoryMb: 128,
    workspaceCpus: 2,
    workspaceProcesses: 64,
    workspaceDockerRuntime: 'runsc',
  };
  const { HostConfig: host, Env } = containerOptions(
    { ...config, workspaceEgress: 'none' },
    'i',
    workspace,
    folders,
    true,
  );
  assert.deepEqual(
    [host?.Memory, host?.NanoCpus, host?.PidsLimit, host?.Runtime],
    [128 * 1024 * 1024, 2e9, 64, 'runsc'],
  );
  assert.match(host?.Tmpfs?.['/tmp'] ?? '', /size=32m,nr_inodes=100000/);
  assert.ok(!Env?.some((line) => line.startsWith('HOMEPORT_EGRESS')));
});

test('the space of a home is passed to the daemon and the kernel, and no writes succeed once it is used up', () => {
  const config = { ...testConfig, workspaceDiskMb: 64, workspaceFiles: 2_000 };
  const sizeOf = (mayWrite: boolean) => {
    const { HostConfig: host, Env, Labels } = containerOptions(config, 'i', workspace, folders, mayWrite);
    const limit = host?.Ulimits?.find(({ Name }) => Name === 'fsize');
    return [limit?.Hard, limit?.Soft, Labels?.['homeport.writes'], Env?.filter((line) => /_DISK_/.test(line))];
  };
  const variables = [`HOMEPORT_DISK_BYTES=${64 * 1024 ** 2}`, 'HOMEPORT_DISK_FILES=2000'];
  assert.deepEqual(sizeOf(true), [64 * 1024 ** 2, 64 * 1024 ** 2, undefined, variables]);
  assert.deepEqual(sizeOf(false), [0, 0, 'no', variables]);
});

test('parses the addresses of an engine', () => {
  const cases: [given: string, address: ReturnType<typeof parseDockerHost>][] = [
    ['unix:///var/run/docker.sock', { socketPath: '/var/run/docker.sock' }],
    ['tcp://socket-proxy:2375', { host: 'socket-proxy', port: 2375 }],
    ['tcp://[::1]:2375', { host: '::1', port: 2375 }],
    ['tcp://host', undefined],
    ['tcp://host:99999', undefined],
    ['unix://docker.sock', undefined],
    ['/var/run/docker.sock', undefined],
    ['ssh://host:22', undefined],
  ];
  for (const [given, address] of cases) assert.deepEqual(parseDockerHost(given), address, given);
});

let folder: string;
let server: Server;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-socket-'));
  server = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(join(folder, 'real.sock'), resolve));
});
after(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

test('accepts a socket, but not a link to one, a file or a missing path', {
  skip: process.platform !== 'linux',
}, async () => {
  await symlink(join(folder, 'real.sock'), join(folder, 'link.sock'));
  await writeFile(join(folder, 'file.sock'), '');
  const held = await holdSocket(join(folder, 'real.sock'));
  assert.match(held?.socketPath ?? '', /^\/proc\/self\/fd\/\d+$/);
  await held?.close();
  assert.equal(await holdSocket(join(folder, 'none.sock')), undefined);
  for (const name of ['link.sock', 'file.sock']) await assert.rejects(holdSocket(join(folder, name)), RuntimeFailure);
});
