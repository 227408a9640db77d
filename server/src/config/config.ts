import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { findMistyped } from './mistyped-settings.ts';
import type { Setting } from './setting-kinds.ts';
import { parseS3Location } from './setting-values.ts';
import { settingTable } from './settings-table.ts';
import { storedSecrets } from './stored-secrets.ts';

type Values<T> = { [K in keyof T]: T[K] extends Setting<infer Value> ? Value : never };
type Given = Values<typeof settingTable>;

/**
 * The settings of one process, parsed once (contract.md section 2). `dataDir` is absolute; without `databaseUrl`, the
 * embedded PostgreSQL in it is used; `baseUrl` is an origin without a trailing slash; if undefined, any loopback name
 * or address is accepted.
 */
export type Config = Readonly<
  Given & {
    authSecret: string;
    encryptionKey: string;
    version: string;
    /** The settings that the environment sets; the others have their defaults. */
    fromEnvironment: ReadonlySet<string>;
  }
>;

/** The release; `npm run check` compares it with package.json. */
export const version = '0.1.0';

/** All invalid settings of one start. The message has one line for each and never a secret's value. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`Homeport cannot start with these settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads and checks the environment. Creates the data folder and, where the contract requires it, the two secrets in
 * it, unless `secretsFile` makes the file required or optional. With an optional file, missing secrets are empty.
 * Throws ConfigError.
 */
export function loadConfig(
  environment: Environment = process.env,
  secretsFile: 'may-be-made' | 'must-exist' | 'may-be-absent' = 'may-be-made',
): Config {
  const problems: string[] = [];
  const given = parseTable(settingTable, (setting) => readSetting(environment, setting, problems));
  const dataDir = resolve(given.dataDir);
  problems.push(...missingCredentials(given), ...sharedPreviewDomain(given), ...missingPooler(given));
  const mayLack = secretsFile === 'may-be-absent';
  if (given.databaseUrl !== undefined && !mayLack) {
    problems.push(...missingSecrets(given, problems), ...missingPlace(given));
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const { authSecret, encryptionKey } = mayLack
    ? presentSecrets(given, dataDir)
    : completeSecrets(given, dataDir, secretsFile === 'may-be-made');
  const fromEnvironment = new Set(keysSetIn(environment));
  return Object.freeze({ ...given, dataDir, authSecret, encryptionKey, version, fromEnvironment });
}

/**
 * The settings of the place that a backup is restored into: those of the environment, or `into`, a folder that gets
 * everything or the URL of a database.
 */
export function loadRestoreConfig(into?: string): Config {
  if (into === undefined) return loadConfig(process.env, 'may-be-absent');
  const { DATABASE_URL, DATABASE_URL_FILE, DATABASE_DIRECT_URL, DATABASE_DIRECT_URL_FILE, ...kept } = process.env;
  if (/^postgres(ql)?:/.test(into)) return loadConfig({ ...kept, DATABASE_URL: into }, 'may-be-absent');
  const { ARTIFACT_STORE, ARTIFACT_STORE_FILE, DATA_DIR_FILE, ...rest } = kept;
  return loadConfig({ ...rest, DATA_DIR: into }, 'may-be-absent');
}

/** The external database itself, not a pooler in front of it: for commands. */
export function directUrl({ databaseUrl, databaseDirectUrl }: Config): string | undefined {
  return databaseDirectUrl ?? databaseUrl;
}

/** Variables that are probably misspelt settings, each with the setting that was meant. */
export function mistypedSettings(): { setting: string; meant: string }[] {
  return findMistyped(process.env);
}

function keysSetIn(environment: Environment): string[] {
  const set = Object.entries(settingTable).filter(([, { name }]) => textOf(environment, name, []) !== undefined);
  return set.map(([key]) => key);
}

/** The only place where a parsed table gets its type. */
function parseTable<T extends Record<string, Setting<unknown>>>(
  table: T,
  read: (setting: Setting<unknown>) => unknown,
): Values<T> {
  return Object.fromEntries(Object.entries(table).map(([key, setting]) => [key, read(setting)])) as Values<T>;
}

function readSetting(environment: Environment, setting: Setting<unknown>, problems: string[]): unknown {
  const text = textOf(environment, setting.name, problems);
  if (text === undefined) return setting.fallback;
  const value = setting.parse(text);
  if (value === undefined) {
    const got = setting.secret ? `not shown (${Buffer.byteLength(text)} bytes)` : JSON.stringify(text.slice(0, 100));
    const advice = setting.advise?.(text);
    problems.push(`${setting.name} is ${got}; it takes ${setting.takes}${advice === undefined ? '' : `: ${advice}`}`);
  }
  return value ?? setting.fallback;
}

/** The setting, or the content of the file that NAME_FILE names; empty counts as unset. */
function textOf(environment: Environment, name: string, problems: string[]): string | undefined {
  const direct = environment[name]?.trim();
  if (direct !== undefined && direct !== '') return direct;
  const file = environment[`${name}_FILE`]?.trim();
  if (file === undefined || file === '') return undefined;
  try {
    const content = readFileSync(file, 'utf8').trim();
    if (content !== '') return content;
    problems.push(`${name}_FILE names ${file}, which is empty`);
  } catch {
    problems.push(`${name}_FILE names ${file}, which cannot be read`);
  }
  return undefined;
}

function missingCredentials(given: Given): string[] {
  if (given.artifactStore === undefined || parseS3Location(given.artifactStore) === undefined) return [];
  return (['awsAccessKeyId', 'awsSecretAccessKey'] as const)
    .filter((key) => given[key] === undefined)
    .map((key) => `${settingTable[key].name} is not set, but the bucket in ARTIFACT_STORE needs it`);
}

function missingPooler({ databaseUrl, databaseDirectUrl }: Given): string[] {
  if (databaseDirectUrl === undefined || databaseUrl !== undefined) return [];
  return ['DATABASE_DIRECT_URL is set without DATABASE_URL; it takes the address behind the pooler in DATABASE_URL'];
}

/** With a database elsewhere, a process may lose its data folder, and each replica has another one. */
function missingPlace({ backupSchedule, backupTo }: Given): string[] {
  if (backupSchedule === undefined || backupTo !== undefined) return [];
  return [`BACKUP_SCHEDULE is set without BACKUP_TO; with DATABASE_URL it takes ${settingTable.backupTo.takes}`];
}

/** Requests are routed by host name, so apps must not share one with Homeport. */
function sharedPreviewDomain({ baseUrl, previewOrigin }: Given): string[] {
  if (baseUrl === undefined || previewOrigin === undefined) return [];
  const suffix = new URL(previewOrigin.replace('*', 'x')).hostname.slice(1);
  const { hostname } = new URL(baseUrl);
  if (hostname !== suffix.slice(1) && !hostname.endsWith(suffix)) return [];
  return [`PREVIEW_ORIGIN is ${previewOrigin}, which includes BASE_URL; it takes a domain that nothing else uses`];
}

const secretKeys = ['authSecret', 'encryptionKey'] as const;

/** With an external database no secrets are made here: a key that exists on one machine only would be lost with it. */
function missingSecrets(given: Given, problems: readonly string[]): string[] {
  return secretKeys
    .filter((key) => given[key] === undefined)
    .map((key) => settingTable[key].name)
    .filter(
      (name) => !problems.some((problem) => problem.startsWith(`${name} `) || problem.startsWith(`${name}_FILE `)),
    )
    .map((name) => `${name} is not set; with DATABASE_URL you must set it, and keep it as long as the database`);
}

function presentSecrets(given: Given, dataDir: string) {
  const stored = storedSecrets(dataDir, false);
  const found = 'problem' in stored ? undefined : stored;
  return {
    authSecret: given.authSecret ?? found?.authSecret ?? '',
    encryptionKey: given.encryptionKey ?? found?.encryptionKey ?? '',
  };
}

function completeSecrets(given: Given, dataDir: string, make: boolean) {
  if (given.authSecret !== undefined && given.encryptionKey !== undefined) {
    return { authSecret: given.authSecret, encryptionKey: given.encryptionKey };
  }
  const stored = storedSecrets(dataDir, make);
  if ('problem' in stored) throw new ConfigError([stored.problem]);
  const authSecret = given.authSecret ?? stored.authSecret;
  const encryptionKey = given.encryptionKey ?? stored.encryptionKey;
  if (authSecret === undefined || encryptionKey === undefined) {
    const name = settingTable[authSecret === undefined ? 'authSecret' : 'encryptionKey'].name;
    throw new ConfigError([`${dataDir}/secrets.json lacks ${name}; restore the file from a backup, or set ${name}`]);
  }
  return { authSecret, encryptionKey };
}
