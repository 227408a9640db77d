import { ApiError } from '@homeport/contracts/errors';
import type { OperationSettings, OperationSettingsPatch } from '@homeport/contracts/operation-settings';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import { parseSchedule } from '../config/backup-schedule.ts';
import type { Config } from '../config/config.ts';
import { settingTable } from '../config/settings-table.ts';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';

/**
 * Settings of the operation: a variable of the environment wins over what administrators set in the page, which wins
 * over the default. Nothing is cached: a change takes effect with the next use, on every replica.
 */

type Name = Exclude<keyof OperationSettings, 'hasBackupPlace'>;
const names = [
  'backupSchedule',
  'backupKeep',
  'backupWorkspaces',
  'auditDays',
  'artifactMaxUploadBytes',
  'artifactQuotaMb',
] as const satisfies readonly Name[];

type Values = { [N in Name]: OperationSettings[N]['value'] };
export type StoredOperation = Partial<Values>;
type OperationConfig = Pick<Config, Name | 'fromEnvironment' | 'backupTo' | 'databaseUrl'>;
export type OperationDeps = { config: OperationConfig; db: Pick<Database, 'kysely'> };

/** The values in force. `db`: the caller's transaction. */
export async function readOperation(deps: OperationDeps, db: Queryable = deps.db.kysely): Promise<Values> {
  return valuesInForce(deps.config, await readStored(db));
}

/** The same for a row that the caller has read. */
export function valuesInForce(config: OperationConfig, stored: StoredOperation): Values {
  const entries = names.map((name) => [name, resolve(config, stored, name).value]);
  return Object.fromEntries(entries) as Values;
}

/** Every setting with its value, its source and its variable. */
export async function getOperationSettings({ config, db }: OperationDeps): Promise<OperationSettings> {
  return toView(config, await readStored(db.kysely));
}

/** Changes the given members. Throws `invalid_request`, also for one that the environment sets. */
export async function updateOperationSettings(
  { config, db }: OperationDeps,
  patch: OperationSettingsPatch,
  source: AuditSource,
): Promise<OperationSettings> {
  return inTransaction(db, async (trx) => {
    const { operation } = await trx.selectFrom('settings').select('operation').forUpdate().executeTakeFirstOrThrow();
    const given = readPatch(config, patch);
    const next = withoutNulls({ ...operation, ...given });
    const changed = names.filter((name) => operation[name] !== next[name]);
    if (changed.length > 0) {
      await trx
        .updateTable('settings')
        .set({ operation: JSON.stringify(next) })
        .execute();
      const values = Object.fromEntries(changed.map((name) => [name, next[name] ?? null]));
      await recordEvent(trx, source, { action: 'settings.updated', details: { changed, ...values } });
    }
    return toView(config, next);
  });
}

function readPatch(config: OperationConfig, patch: OperationSettingsPatch): OperationSettingsPatch {
  const details = names.flatMap((path) => {
    const message = patch[path] === undefined ? undefined : faultOf(config, path, patch);
    return message === undefined ? [] : [{ path, message }];
  });
  if (details[0] !== undefined) throw new ApiError('invalid_request', details[0].message, { details });
  const schedule = patch.backupSchedule;
  return typeof schedule === 'string' ? { ...patch, backupSchedule: schedule.trim().toLowerCase() } : patch;
}

function faultOf(config: OperationConfig, name: Name, { backupSchedule }: OperationSettingsPatch): string | undefined {
  if (config.fromEnvironment.has(name)) {
    return `${settingTable[name].name} is set in the environment, so it can only be changed there`;
  }
  if (name !== 'backupSchedule' || typeof backupSchedule !== 'string') return undefined;
  if (parseSchedule(backupSchedule.trim()) === undefined) return `It takes ${settingTable.backupSchedule.takes}`;
  return hasBackupPlace(config) ? undefined : 'Set BACKUP_TO in the environment first: where backups are kept';
}

/** With a database elsewhere, a process may lose its data folder, and each replica has another one. */
function hasBackupPlace({ databaseUrl, backupTo }: OperationConfig): boolean {
  return databaseUrl === undefined || backupTo !== undefined;
}

async function readStored(db: Queryable): Promise<StoredOperation> {
  return (await db.selectFrom('settings').select('operation').executeTakeFirstOrThrow()).operation;
}

function resolve<N extends Name>(config: OperationConfig, stored: StoredOperation, name: N) {
  const byConfig: unknown = config[name];
  const value = config.fromEnvironment.has(name) ? undefined : stored[name];
  const fallback: unknown = settingTable[name].fallback;
  return {
    value: value ?? byConfig ?? null,
    source: config.fromEnvironment.has(name) ? 'environment' : value === undefined ? 'default' : 'page',
    variable: settingTable[name].name,
    default: fallback ?? null,
  };
}

function toView(config: OperationConfig, stored: StoredOperation): OperationSettings {
  const entries = names.map((name) => [name, resolve(config, stored, name)]);
  return { ...Object.fromEntries(entries), hasBackupPlace: hasBackupPlace(config) } as OperationSettings;
}

function withoutNulls(values: OperationSettingsPatch): StoredOperation {
  const kept = Object.entries(values).filter(([name, value]) => value !== null && names.some((each) => each === name));
  return Object.fromEntries(kept) as StoredOperation;
}
