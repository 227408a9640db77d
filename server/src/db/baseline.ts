import type { Client } from 'pg';

/**
 * Schema baseline: one migration, `0058-baseline`, that replaces the 42 migrations from before the first release.
 * A database that has all of them counts as having the baseline, because both make the same schema.
 */

const baseline = '0058-baseline';

/** The last revision that has the replaced migrations as files. */
const lastRevision = 'e9301ab6';

/** The migrations that the baseline replaces, in order. */
export const replacedMigrations: readonly string[] = [
  '0001-init',
  '0002-settings',
  '0003-people',
  '0004-mcp',
  '0005-projects-artifacts',
  '0006-workspaces',
  '0007-sign-in',
  '0008-mcp-drift-notices',
  '0013-tool-rules',
  '0014-own-installation',
  '0015-pruning',
  '0017-cheap-heartbeats',
  '0019-search-walks',
  '0020-instructions',
  '0021-provider-kinds',
  '0022-assistants',
  '0023-summaries',
  '0024-model-facts',
  '0026-documents',
  '0027-shared-providers',
  '0028-usage',
  '0029-steering',
  '0030-tool-rules',
  '0031-workspace-notes',
  '0032-mcp-sign-in',
  '0033-operations',
  '0034-imports',
  '0039-plan-and-questions',
  '0040-turn-budget',
  '0042-mcp-programs',
  '0044-deleted-accounts',
  '0045-usage-retention',
  '0046-mcp-offers',
  '0047-handed-over',
  '0048-artifact-source',
  '0049-live-questions',
  '0050-budget-indexes',
  '0051-skills',
  '0052-artifact-versions',
  '0056-program-models',
  '0057-import-own',
  '0058-search-cleaning',
];

const replaced = new Set(replacedMigrations);

/**
 * Migrations of a database, with the baseline instead of those that it replaces. Throws if the database has only a part
 * of these.
 */
export function withBaseline(executed: readonly string[]): string[] {
  const missing = replacedMigrations.filter((name) => !executed.includes(name));
  if (missing.length > 0 && missing.length < replacedMigrations.length) {
    throw new Error(
      `The database belongs to a development version from before release 0.1.0 (it lacks ${missing.join(', ')}). ` +
        `Start revision ${lastRevision} of Homeport on it once, which brings it up to date, then start this release.`,
    );
  }
  return replaceByBaseline(executed);
}

/**
 * Migrations of a backup, with the baseline instead of those that it replaces, even if the backup has only a part of
 * these. Backups exist since `0033-operations`, and later ones only added tables, and columns with a default, so the
 * rows of each backup fit the baseline.
 */
export function replaceByBaseline(names: readonly string[]): string[] {
  const others = names.filter((name) => !replaced.has(name));
  return others.length === names.length ? others : [baseline, ...others];
}

/** Records the baseline in a database that has all migrations that it replaces. Any number of replicas may call it. */
export async function recordBaseline(client: Client): Promise<void> {
  await client.query('begin');
  try {
    await client.query('lock table kysely_migration in exclusive mode');
    await client.query(
      `with former as (delete from kysely_migration where name = any ($1) returning timestamp)
       insert into kysely_migration (name, timestamp) select $2, max(timestamp) from former having count(*) > 0`,
      [replacedMigrations, baseline],
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}
