import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { scratchFolder } from '../product.ts';
import { arch, command, doMainJob, emptyFolder, releaseFolder, version } from './installed.ts';

/**
 * The Debian package, installed, used, removed and purged by dpkg itself, as root, in a copy of this system that lives
 * in memory and ends with the test. systemd does not run in it: the test starts what the unit would.
 */

const scratch = scratchFolder();
const base = emptyFolder(scratch, 'base');
const root = join(base, 'root');
const mount = [
  `mount -t tmpfs tmpfs "${base}" && mkdir "${base}/upper" "${base}/work" "${root}"`,
  `mount -t overlay overlay -o "lowerdir=/,upperdir=${base}/upper,workdir=${base}/work" "${root}"`,
  `mount -t proc proc "${root}/proc" && mount --rbind /dev "${root}/dev" && mount -t tmpfs tmpfs "${root}/tmp"`,
].join(' && ');
const whyNot = reason();
if (whyNot !== undefined && process.env.REQUIRE_SANDBOX === '1') throw new Error(`REQUIRE_SANDBOX=1, but ${whyNot}`);
const skip = whyNot ?? false;
let holder: ChildProcess;

function reason(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can install a Debian package';
  if (spawnSync('dpkg', ['--version']).status !== 0) return 'dpkg is not installed';
  const { status, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', mount], { encoding: 'utf8' });
  return status === 0 ? undefined : `no copy of this system can be mounted: ${stderr.trim()}`;
}

before(async () => {
  if (whyNot !== undefined) return;
  const file = join(await releaseFolder(scratch), `homeport_${version}_${arch}.deb`);
  holder = spawn('unshare', ['--mount', 'sh', '-c', `${mount} && echo mounted && exec sleep infinity`]);
  await once(holder.stdout ?? holder, 'data');
  // Seen by dpkg, which sees neither /tmp nor what is mounted over it.
  const inside = await enter(['sh', '-c', 'cat > /var/tmp/homeport.deb && echo there'], file);
  assert.equal(inside, 'there\n');
});
after(() => holder?.kill('SIGKILL'));

const into = (): string[] => ['nsenter', `--mount=/proc/${holder.pid}/ns/mnt`, '--', 'chroot', root];
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', DEBIAN_FRONTEND: 'noninteractive' };

/** Runs a program in the copy; `input` is a file for its standard input. */
async function enter(args: readonly string[], input?: string): Promise<string> {
  const [file = '', ...rest] = [...into(), ...args];
  if (input === undefined) return command(file, rest, { env, cwd: '/' });
  const script = `exec "$@" < "${input}"`;
  return command('sh', ['-c', script, 'sh', file, ...rest], { env, cwd: '/' });
}

const read = (path: string) => enter(['cat', path]);

test('installs a user, a private folder and an enabled unit', {
  skip,
  timeout: 600_000,
}, async () => {
  // Recommended packages can be missing; dependencies are installed.
  await enter(['dpkg', '--install', '/var/tmp/homeport.deb']);
  assert.match(await read('/etc/passwd'), /^homeport:x:\d+:\d+::\/var\/lib\/homeport:\/usr\/sbin\/nologin$/m);
  const modes = await enter(['stat', '-c', '%n %U:%G %a', '/var/lib/homeport', '/etc/homeport/homeport.env']);
  assert.equal(modes, '/var/lib/homeport homeport:homeport 700\n/etc/homeport/homeport.env root:homeport 640\n');
  await enter(['test', '-L', '/etc/systemd/system/multi-user.target.wants/homeport.service']);
  for (const name of ['homeport', 'homeport-admin']) assert.equal(await enter([name, '--version']), `${version}\n`);
});

test('runs the main steps from its unit, with the settings of its file', { skip, timeout: 600_000 }, async () => {
  const unit = await read('/lib/systemd/system/homeport.service');
  const [, start = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
  const [, folder = ''] = /^WorkingDirectory=(.*)$/m.exec(unit) ?? [];
  assert.match(start, /^\/usr\/lib\/homeport\//);
  const asService = ['runuser', '-u', 'homeport', '--', 'sh', '-c', `cd "${folder}" && exec ${start}`];
  await doMainJob({
    serve: [...into(), ...asService],
    admin: [...into(), 'homeport', 'admin'],
    env,
    configure(settings) {
      const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
      const file = join(scratch, 'homeport.env');
      writeFileSync(file, lines.join(''));
      const copied = spawnSync('sh', [
        '-c',
        `exec "$@" < "${file}"`,
        'sh',
        ...into(),
        'sh',
        '-c',
        'cat > /etc/homeport/homeport.env',
      ]);
      assert.equal(copied.status, 0);
    },
    dataDir: '/var/lib/homeport',
    backups: '/var/lib/homeport/backups',
  });
});

test('keeps settings and data on removal, and the data on purge', {
  skip,
  timeout: 600_000,
}, async () => {
  await enter(['dpkg', '--remove', 'homeport']);
  await enter(['test', '-f', '/etc/homeport/homeport.env']);
  await enter(['test', '!', '-e', '/usr/lib/homeport']);
  assert.match(await enter(['dpkg', '--purge', 'homeport']), /your data stays in \/var\/lib\/homeport/);
  await enter(['test', '!', '-e', '/etc/homeport']);
  await enter(['test', '-d', '/var/lib/homeport/postgres']);
  await enter(['test', '-f', '/var/lib/homeport/backups/first.tar']);
  assert.doesNotMatch(await enter(['find', '/etc/systemd', '/var/lib/systemd', '-name', 'homeport*']), /homeport/);
});
