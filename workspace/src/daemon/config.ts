import { readFileSync } from 'node:fs';
import type { SpaceLimits } from './space/home-space.ts';

/** `egressBridgePort` of the contract, repeated because that module brings in the schemas. */
export const bridgePort = 3128;
/** `daemonProtocol` of the contract. */
export const protocolVersion = 3;
/** `modelsPort` of the contract. */
export const modelsPort = 3129;

/** Address that a server listens on or a client connects to. */
export type Address = { fd: number } | { path: string } | { host: string; port: number };

export type Config = {
  /** The only folder whose files the daemon serves; `/home/user` in a sandbox. */
  home: string;
  generation: number;
  listen: Address;
  readyFd: number | undefined;
  /** Hex SHA-256 of the token that opens the daemon. */
  tokenHash: string;
  /** The file with the workspace's own token; undefined outside a workspace. */
  tokenFile: string | undefined;
  /** The control plane's proxy. */
  egress: Address | undefined;
  /** The control plane's address if programs may ask models there. */
  modelsUrl: string | undefined;
  /** Limits of the home. */
  limits: SpaceLimits;
  /** Everything that commands and terminals inherit. */
  commandEnvironment: Record<string, string>;
};

type Environment = Record<string, string | undefined>;

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Reads the environment that a runtime set (contracts/src/workspace/daemon.ts). Throws with the variable's name. */
export function readConfig(environment: Environment = process.env): Config {
  const home = required(environment, 'HOMEPORT_HOME');
  const egress = environment.HOMEPORT_EGRESS;
  const generation = Number(environment.HOMEPORT_GENERATION ?? '0');
  if (!Number.isSafeInteger(generation) || generation < 0) throw new Error('HOMEPORT_GENERATION is not a number');
  const ready = environment.HOMEPORT_READY_FD;
  return {
    home,
    generation,
    listen: parseAddress('HOMEPORT_LISTEN', required(environment, 'HOMEPORT_LISTEN')),
    readyFd: ready ? parseDescriptor('HOMEPORT_READY_FD', ready) : undefined,
    tokenHash: readHash(required(environment, 'HOMEPORT_DAEMON_HASH_FILE')),
    tokenFile: environment.HOMEPORT_TOKEN_FILE || undefined,
    egress: egress ? parseAddress('HOMEPORT_EGRESS', egress) : undefined,
    modelsUrl: environment.HOMEPORT_MODELS === '1' ? environment.HOMEPORT_URL || undefined : undefined,
    limits: {
      bytes: readLimit(environment, 'HOMEPORT_DISK_BYTES'),
      files: readLimit(environment, 'HOMEPORT_DISK_FILES'),
    },
    commandEnvironment: commandEnvironment(environment, home),
  };
}

function required(environment: Environment, name: string): string {
  const value = environment[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

function readLimit(environment: Environment, name: string): number | undefined {
  const text = environment[name] || '0';
  if (!/^\d{1,15}$/.test(text)) throw new Error(`${name} is not a number`);
  return Number(text) || undefined;
}

/** `fd:<n>`, `unix:<path>` or `tcp:<host>:<port>`. */
function parseAddress(name: string, text: string): Address {
  const [, kind, rest = ''] = /^(fd|unix|tcp):(.+)$/s.exec(text) ?? [];
  if (kind === 'fd') return { fd: parseDescriptor(name, rest) };
  if (kind === 'unix') return { path: rest };
  const [, host, port] = /^\[?(.+?)\]?:(\d{1,5})$/.exec(rest) ?? [];
  if (kind !== 'tcp' || host === undefined) throw new Error(`${name} is neither fd:, unix: nor tcp:<host>:<port>`);
  return { host, port: Number(port) };
}

function parseDescriptor(name: string, text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new Error(`${name} is not a descriptor`);
  return Number(text);
}

function readHash(file: string): string {
  const hash = readFileSync(file, 'utf8').trim().toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new Error('HOMEPORT_DAEMON_HASH_FILE holds no SHA-256');
  return hash;
}

function commandEnvironment(environment: Environment, home: string): Record<string, string> {
  const proxy = `http://127.0.0.1:${bridgePort}`;
  const own = { HOMEPORT_URL: environment.HOMEPORT_URL, HOMEPORT_TOKEN_FILE: environment.HOMEPORT_TOKEN_FILE };
  const given = Object.entries(own).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].map((name) => [name, proxy]);
  const local = ['NO_PROXY', 'no_proxy'].map((name) => [name, 'localhost,127.0.0.1,::1']);
  return {
    HOME: home,
    PATH: `${home}/.local/bin:${environment.PATH || defaultPath}`,
    LANG: environment.LANG || 'C.UTF-8',
    TERM: 'xterm-256color',
    USER: environment.USER || 'user',
    SHELL: '/bin/bash',
    TMPDIR: environment.TMPDIR || '/tmp',
    ...Object.fromEntries(given),
    ...(environment.HOMEPORT_EGRESS ? { ...Object.fromEntries([...proxies, ...local]), NODE_USE_ENV_PROXY: '1' } : {}),
  };
}
