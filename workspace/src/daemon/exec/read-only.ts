import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { clock } from '../../clock.ts';
import type { Daemon } from '../state.ts';
import { perlPath, startSupervised } from './supervisor.ts';

/**
 * Commands that may only read: nothing but /dev/null can be written, no socket can be opened, no other process can be
 * reached, and the workspace's secrets in /run cannot be read. The supervisor gives these rights up for good, with
 * Landlock and a seccomp filter, before it starts the shell; neither needs a privilege.
 */

const probeMs = 20_000;
/** Variables that commands keep; the others lead to the network or carry permissions. */
const keptVariables = ['HOME', 'PATH', 'LANG', 'TERM', 'USER', 'SHELL', 'TMPDIR'];

/** The environment of such a command. */
export function readOnlyEnvironment(environment: Record<string, string>): Record<string, string> {
  const kept = Object.entries(environment).filter(([name]) => keptVariables.includes(name));
  // Git would otherwise try to refresh its index.
  return { ...Object.fromEntries(kept), GIT_OPTIONAL_LOCKS: '0' };
}

const probed = new WeakMap<Daemon, Promise<boolean>>();

/** Whether such commands can be run here; tried once. */
export function canReadOnly(daemon: Daemon): Promise<boolean> {
  const known = probed.get(daemon);
  if (known !== undefined) return known;
  const probing = probe(daemon.config).catch((error) => {
    daemon.log('commands cannot be kept from writing here', error);
    return false;
  });
  probed.set(daemon, probing);
  return probing;
}

/** Everything is tried that has to fail; the last word is printed only if all of it did. */
const attempts = `
exit 1 if open my $file, '>', $ARGV[0];
exit 2 if open $file, '>', "$ARGV[1]/.workspace-probe";
exit 3 if socket my $unix, 1, 1, 0;
exit 4 if socket my $inet, 2, 2, 0;
exit 5 if kill 0, getppid;
exit 6 if chmod 0700, $ARGV[1];
exit 7 unless open $file, '<', '/proc/self/status';
exit 8 unless open $file, '>', '/dev/null';
print 'confined';`;

async function probe({ home, commandEnvironment }: Daemon['config']): Promise<boolean> {
  const id = `probe-${randomUUID()}`;
  const inTmp = `/tmp/.${id}`;
  const quoted = [perlPath, '-e', attempts, inTmp, home].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
  const supervised = startSupervised({
    id,
    command: quoted.join(' '),
    cwd: '/',
    environment: readOnlyEnvironment(commandEnvironment),
    keep: false,
    readOnly: true,
    perl: perlPath,
  });
  const timer = clock.after(probeMs, () => supervised.signal('SIGKILL'));
  try {
    const { stdout, stderr } = await supervised.streams;
    let output = '';
    stdout.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('latin1')).slice(0, 100);
    });
    stderr.resume();
    const isRead = new Promise((resolve) => stdout.once('close', resolve));
    const { exitCode } = await supervised.exited;
    await isRead;
    return exitCode === 0 && output === 'confined';
  } finally {
    timer.stop();
    for (const path of [inTmp, `${home}/.workspace-probe`]) rmSync(path, { force: true });
  }
}
