import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Certificates } from '../fakes/certificates.ts';

/**
 * The reverse proxies of deploy/proxy/, each run as an ordinary user would: on a high port, with files in one folder.
 */

export type ProxyName = 'nginx' | 'caddy' | 'apache';
type Place = { folder: string; port: number; upstream: string; certificates: Certificates };

export const publicName = 'chat.example.org';
const configs = join(import.meta.dirname, '../../../deploy/proxy');
const programs = { nginx: ['nginx'], caddy: ['caddy'], apache: ['apache2', 'httpd'] } as const;

/** The path of the program; undefined if it is not installed. */
export function findProgram(name: ProxyName): string | undefined {
  const folders = `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin`.split(':').filter((folder) => folder !== '');
  const paths = programs[name].flatMap((program) => folders.map((folder) => join(folder, program)));
  return paths.find((path) => existsSync(path));
}

/** Starts it with the documented configuration and waits until its port answers. */
export async function startProxy(name: ProxyName, program: string, place: Place): Promise<ChildProcess> {
  const child = spawn(program, write(name, program, place), {
    cwd: place.folder,
    env: { PATH: process.env.PATH, HOME: place.folder, XDG_DATA_HOME: place.folder, XDG_CONFIG_HOME: place.folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      output += data.toString();
    });
  }
  while (!(await answers(place.port))) {
    if (child.exitCode !== null) throw new Error(`${name} ended:\n${output}${errorLog(place.folder)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return child;
}

function errorLog(folder: string): string {
  const file = join(folder, 'error.log');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

/**
 * The documented text with names, ports and files of the test, in a minimal frame in place of the system's own
 * configuration.
 */
function write(name: ProxyName, program: string, { folder, port, upstream, certificates }: Place): string[] {
  const [cert, key] = [join(folder, 'leaf.pem'), join(folder, 'leaf.key')];
  const localised = (file: string) =>
    readFileSync(join(configs, file), 'utf8')
      .replaceAll('/etc/ssl/chat.example.org.pem', cert)
      .replaceAll('/etc/ssl/chat.example.org.key', key)
      .replaceAll('127.0.0.1:3000', upstream)
      .replace(/\b443\b/, String(port));
  writeFileSync(cert, certificates.cert);
  writeFileSync(key, certificates.key);
  const file = join(folder, 'proxy.conf');
  if (name === 'nginx') {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${kind};`);
    const frame = `daemon off; pid nginx.pid; error_log stderr;\nevents {}\nhttp { access_log off; ${temporary.join(' ')}\n`;
    writeFileSync(file, `${frame}${localised(nginxFile(program))}}\n`);
    return ['-p', folder, '-e', 'stderr', '-c', file];
  }
  if (name === 'caddy') {
    const site = localised('Caddyfile').replace(
      `${publicName} {`,
      `https://${publicName}:${port} {\n\ttls ${cert} ${key}`,
    );
    writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
    return ['run', '--adapter', 'caddyfile', '--config', file];
  }
  mkdirSync(join(folder, 'run'), { recursive: true });
  const modules = ['mpm_event', 'authz_core', 'ssl', 'socache_shmcb', 'http2', 'proxy', 'proxy_http', 'proxy_wstunnel'];
  const folders = ['/usr/lib/apache2/modules', '/usr/lib64/httpd/modules', '/usr/libexec/apache2'];
  const found = folders.find((path) => existsSync(path)) ?? '';
  const loaded = modules
    .map((module) => ({ module, path: join(found, `mod_${module}.so`) }))
    .filter(({ path }) => existsSync(path))
    .map(({ module, path }) => `LoadModule ${module}_module ${path}`);
  const user = process.getuid?.() === 0 ? ['User #65534', 'Group #65534'] : [];
  const frame = [`ServerRoot ${folder}`, `DefaultRuntimeDir ${folder}/run`, `PidFile ${folder}/apache.pid`, ...loaded];
  const lines = [...frame, ...user, 'ErrorLog error.log', `Listen 127.0.0.1:${port}`, 'ServerName localhost'];
  writeFileSync(file, `${lines.join('\n')}\n${localised('apache.conf')}`);
  return ['-f', file, '-DFOREGROUND'];
}

function nginxFile(program: string): string {
  return nginxFileFor(spawnSync(program, ['-v'], { encoding: 'utf8' }).stderr);
}

/** The version that `nginx -v` prints: `http2 on` is supported from 1.25.1. */
export function nginxFileFor(version: string): string {
  const [, major, minor, patch] = /nginx\/(\d+)\.(\d+)\.(\d+)/.exec(version)?.map(Number) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) throw new Error(`no version: ${version}`);
  const isOld = major < 1 || (major === 1 && (minor < 25 || (minor === 25 && patch === 0)));
  return isOld ? 'nginx-before-1.25.conf' : 'nginx.conf';
}
