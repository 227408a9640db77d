import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { limits } from '@homeport/contracts/limits';
import { parseCidr } from './client-address.ts';

/** Settings of one process, parsed once (contract section 2). Sizes in bytes. */
export type Config = Readonly<{
  edition: 'community' | 'managed';
  /** Undefined: the embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | undefined;
  dataDir: string;
  host: string;
  port: number;
  /** The public origin, without a trailing slash; undefined when BASE_URL is unset and loopback names are accepted. */
  baseUrl: string | undefined;
  authSecret: string;
  encryptionKey: string;
  previousEncryptionKeys: readonly string[];
  setupClaimToken: string | undefined;
  allowPrivateEgress: boolean;
  allowInsecureHttp: boolean;
  trustedProxies: readonly string[];
  artifactMaxUploadBytes: number;
  logLevel: LogLevel;
  modelTitles: boolean;
  version: string;
}>;

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** The release, kept equal to package.json by `npm run check`. */
const version = '0.1.0';

/** All bad settings of one start; the message has one line each and never a value of a secret. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`Homeport cannot start with these settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads and checks the environment; makes the data folder and, where the contract says so, the two secrets in it. */
export function loadConfig(environment: Environment = process.env): Config {
  const reader = new SettingsReader(environment);
  const dataDir = resolve(reader.text('DATA_DIR') ?? './data');
  const databaseUrl = reader.checked('DATABASE_URL', 'a postgres:// URL', isPostgresUrl, true);
  const host = reader.text('HOST') ?? '127.0.0.1';
  const port = reader.integer('PORT', 3000, 0, 65_535);
  const baseUrl = reader.checked('BASE_URL', 'an http or https origin such as https://chat.example.org', isOrigin);
  const settings = {
    edition: reader.choice('EDITION', ['community', 'managed'], 'community'),
    databaseUrl,
    dataDir,
    host,
    port,
    baseUrl: baseUrl === undefined ? undefined : new URL(baseUrl).origin,
    previousEncryptionKeys: reader.list('SETTINGS_ENCRYPTION_KEY_PREVIOUS'),
    setupClaimToken: reader.text('SETUP_CLAIM_TOKEN'),
    allowPrivateEgress: reader.flag('ALLOW_PRIVATE_EGRESS', false),
    allowInsecureHttp: reader.flag('ALLOW_INSECURE_HTTP', false),
    trustedProxies: reader.checkedList(
      'TRUSTED_PROXIES',
      'CIDRs such as 10.0.0.0/8',
      (cidr) => parseCidr(cidr) !== null,
    ),
    artifactMaxUploadBytes: reader.integer('ARTIFACT_MAX_UPLOAD_BYTES', limits.artifactMaxUploadBytes, 1, 2 ** 40),
    logLevel: reader.choice('LOG_LEVEL', logLevels, 'info'),
    modelTitles: reader.flag('MODEL_TITLES', true),
    version,
  };
  const secrets = readSecrets(reader, dataDir, databaseUrl !== undefined);
  reader.finish();
  return Object.freeze({ ...settings, ...secrets });
}

class SettingsReader {
  readonly environment: Environment;
  readonly problems: string[] = [];

  constructor(environment: Environment) {
    this.environment = environment;
  }

  /** The setting, or the content of the file that NAME_FILE names; empty counts as unset. */
  text(name: string): string | undefined {
    const direct = this.environment[name]?.trim();
    if (direct !== undefined && direct !== '') return direct;
    const file = this.environment[`${name}_FILE`]?.trim();
    if (file === undefined || file === '') return undefined;
    try {
      const content = readFileSync(file, 'utf8').trim();
      if (content !== '') return content;
      this.problems.push(`${name}_FILE names ${file}, which is empty`);
    } catch {
      this.problems.push(`${name}_FILE names ${file}, which cannot be read`);
    }
    return undefined;
  }

  problem(name: string, got: string, takes: string): void {
    this.problems.push(`${name} is ${JSON.stringify(got.slice(0, 100))}; it takes ${takes}`);
  }

  choice<const T extends string>(name: string, values: readonly T[], fallback: T): T {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const found = values.find((value) => value === text);
    if (found === undefined) this.problem(name, text, values.join(' | '));
    return found ?? fallback;
  }

  flag(name: string, fallback: boolean): boolean {
    return this.choice(name, ['true', 'false'], fallback ? 'true' : 'false') === 'true';
  }

  integer(name: string, fallback: number, least: number, most: number): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= least && value <= most) return value;
    this.problem(name, text, `a whole number from ${least} to ${most}`);
    return fallback;
  }

  checked(name: string, takes: string, valid: (text: string) => boolean, secret = false): string | undefined {
    const text = this.text(name);
    if (text === undefined || valid(text)) return text;
    this.problem(name, secret ? 'something else' : text, takes);
    return undefined;
  }

  list(name: string): string[] {
    const entries = (this.text(name) ?? '').split(',');
    return entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
  }

  checkedList(name: string, takes: string, valid: (text: string) => boolean): string[] {
    const entries = this.list(name);
    for (const entry of entries) if (!valid(entry)) this.problem(name, entry, takes);
    return entries;
  }

  finish(): void {
    if (this.problems.length > 0) throw new ConfigError(this.problems);
  }
}

type Secrets = { authSecret: string; encryptionKey: string };
const secretNames = { authSecret: 'AUTH_SECRET', encryptionKey: 'SETTINGS_ENCRYPTION_KEY' } as const;
const leastSecretBytes = 32;

function readSecrets(reader: SettingsReader, dataDir: string, external: boolean): Secrets {
  const given = { authSecret: reader.text('AUTH_SECRET'), encryptionKey: reader.text('SETTINGS_ENCRYPTION_KEY') };
  for (const key of ['authSecret', 'encryptionKey'] as const) {
    const value = given[key];
    const name = secretNames[key];
    if (value !== undefined && Buffer.byteLength(value) < leastSecretBytes) {
      reader.problems.push(`${name} is too short; it takes ${leastSecretBytes} bytes or more of any text`);
    }
    if (value === undefined && external) {
      reader.problems.push(
        `${name} is not set; with DATABASE_URL it must be given, and kept as long as the database is`,
      );
    }
  }
  if (given.authSecret !== undefined && given.encryptionKey !== undefined) {
    return { authSecret: given.authSecret, encryptionKey: given.encryptionKey };
  }
  reader.finish();
  const stored = storedSecrets(dataDir);
  return {
    authSecret: given.authSecret ?? stored.authSecret,
    encryptionKey: given.encryptionKey ?? stored.encryptionKey,
  };
}

/** Secrets of `DATA_DIR/secrets.json`, made on the first start: a flat object of the two settings' names, mode 0600. */
function storedSecrets(dataDir: string): Secrets {
  const file = join(dataDir, 'secrets.json');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const found = readSecretsFile(file);
  const secrets = {
    AUTH_SECRET: found.AUTH_SECRET ?? randomBytes(32).toString('base64url'),
    SETTINGS_ENCRYPTION_KEY: found.SETTINGS_ENCRYPTION_KEY ?? randomBytes(32).toString('base64url'),
  };
  if (Object.keys(found).length < 2) {
    const draft = `${file}.${process.pid}.tmp`;
    writeFileSync(draft, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600, flush: true });
    chmodSync(draft, 0o600);
    renameSync(draft, file);
  }
  return { authSecret: secrets.AUTH_SECRET, encryptionKey: secrets.SETTINGS_ENCRYPTION_KEY };
}

function readSecretsFile(file: string): Record<string, string> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new ConfigError([`${file} cannot be read`]);
  }
  const damaged = new ConfigError([
    `${file} is damaged; restore it from a backup. Without it stored credentials cannot be read`,
  ]);
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw damaged;
  }
  if (typeof content !== 'object' || content === null) throw damaged;
  const entries = Object.entries(content).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  if (entries.some(([, value]) => Buffer.byteLength(value) < leastSecretBytes)) throw damaged;
  return Object.fromEntries(entries);
}

function isPostgresUrl(text: string): boolean {
  return URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol);
}

function isOrigin(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
}
