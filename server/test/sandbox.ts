import { spawn, spawnSync } from 'node:child_process';
import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const unshareFlags = process.getuid?.() === 0 ? ['-n', '-m'] : ['-U', '-r', '-n', '-m'];

/** The reason why this machine can make no network namespace, or undefined if it can. */
export function whyNoSandbox(): string | undefined {
  const steps =
    'openssl version && ip link set lo up && ip route add local 0.0.0.0/0 dev lo && ip -6 route add local ::/0 dev lo';
  const probe = spawnSync('unshare', [...unshareFlags, 'sh', '-c', steps], { encoding: 'utf8', timeout: 120_000 });
  if (probe.status === 0) return undefined;
  const reason = probe.error?.message ?? probe.stderr.trim();
  return `no network namespace with every address in it can be made here (${reason})`;
}

/**
 * Runs a TypeScript file in a network of its own, in which every address leads back to it and names are resolved at
 * 127.0.0.1. Returns its output; throws with its error output if it fails.
 */
export async function runInSandbox(
  file: string,
  options: { folder: string; args: string[]; env: Record<string, string>; signal: AbortSignal },
): Promise<string> {
  writeFileSync(join(options.folder, 'resolv.conf'), 'nameserver 127.0.0.1\noptions ndots:1 timeout:2 attempts:1\n');
  writeFileSync(join(options.folder, 'hosts'), '127.0.0.1 localhost\n::1 localhost\n');
  const script = [
    'set -e',
    'ip link set lo up',
    'ip route add local 0.0.0.0/0 dev lo',
    'ip -6 route add local ::/0 dev lo',
    `mount --bind "$1/resolv.conf" "${realpathSync('/etc/resolv.conf')}"`,
    `mount --bind "$1/hosts" "${realpathSync('/etc/hosts')}"`,
    'shift',
    'exec "$@"',
  ].join('\n');
  const command = [...unshareFlags, 'sh', '-c', script, 'sh', options.folder, process.execPath, file, ...options.args];
  const child = spawn('unshare', command, { env: { ...process.env, ...options.env }, signal: options.signal });
  const exit = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code));
  });
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  if (code !== 0) throw new Error(`The sandbox ended with ${code}: ${errors}`);
  return output;
}
