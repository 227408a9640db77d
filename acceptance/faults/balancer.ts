import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, pause } from '../product.ts';

/** The balancers of deploy/proxy/ in the real programs, on plain http and a free port. */

export type BalancerName = 'caddy' | 'haproxy';
export type Balancer = { url: string; child: ChildProcess; output(): string };

const configs = join(import.meta.dirname, '../../deploy/proxy');
const documented = ['10.0.0.1:3000', '10.0.0.2:3000', '10.0.0.3:3000'];

/** Path of the program; undefined if it is not installed. */
export function findBalancer(name: BalancerName): string | undefined {
  const folders = `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin`.split(':').filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Starts it in front of the replicas and waits until it passes requests on. */
export async function startBalancer(
  name: BalancerName,
  folder: string,
  replicas: readonly string[],
): Promise<Balancer> {
  const port = await freePort();
  const file = join(folder, 'balancer.conf');
  writeFileSync(file, name === 'caddy' ? caddyfile(port, replicas) : haproxyConfig(port, replicas));
  const args = name === 'caddy' ? ['run', '--adapter', 'caddyfile', '--config', file] : ['-db', '-f', file];
  const child = spawn(findBalancer(name) ?? name, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  process.on('exit', () => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      output += data.toString();
    });
  }
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${name} ended:\n${output}`);
    const isReady = await fetch(`${url}/api/live`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return { url, child, output: () => output };
    await pause(20);
  }
}

function at(text: string, replicas: readonly string[]): string {
  return documented.reduce((rest, address, index) => rest.replace(address, replicas[index] ?? ''), text);
}

function caddyfile(port: number, replicas: readonly string[]): string {
  const text = readFileSync(join(configs, 'replicas.Caddyfile'), 'utf8');
  const site = at(text, replicas).replace('chat.example.org {', `http://127.0.0.1:${port} {`);
  return `{\n\tadmin off\n\tauto_https off\n}\n${site}`;
}

function haproxyConfig(port: number, replicas: readonly string[]): string {
  const text = readFileSync(join(configs, 'replicas-haproxy.cfg'), 'utf8');
  return at(text, replicas).replace(/bind .*/, `bind 127.0.0.1:${port}`);
}
