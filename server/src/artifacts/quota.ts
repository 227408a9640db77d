import { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { Platform } from '../platform.ts';
import { readOperation } from '../settings/operation.ts';

const bytesPerMegabyte = 1024 * 1024;

/**
 * Bytes that the account's files may still take: ARTIFACT_QUOTA_MB without the contents that it has put into
 * conversations, projects and assistants, present ones and earlier versions. Negative if they take more already; infinite without a
 * limit.
 */
export async function quotaLeft(db: Queryable, deps: Pick<Platform, 'config'>, userId: string): Promise<number> {
  const most = await quotaOf(db, deps);
  return most === 0 ? Number.POSITIVE_INFINITY : most - (await usedBy(db, userId));
}

/**
 * Throws `storage_full` if `bytes` more do not fit. Until the commit no other upload of the account is let in; the
 * caller holds the namespace.
 */
export async function assertQuota(
  trx: Queryable,
  deps: Pick<Platform, 'config'>,
  userId: string,
  bytes: number,
): Promise<void> {
  const most = await quotaOf(trx, deps);
  if (most === 0) return;
  await sql`select pg_advisory_xact_lock(hashtextextended('artifact-quota ' || ${userId}, 0))`.execute(trx);
  const used = await usedBy(trx, userId);
  if (used + bytes <= most) return;
  const explanation = `Your files take ${megabytes(used)} of the ${megabytes(most)} that each account has here`;
  throw new ApiError('storage_full', `Not saved: ${explanation}. Delete some first.`, {
    details: { usedBytes: used, maxBytes: most },
  });
}

async function quotaOf(db: Queryable, { config }: Pick<Platform, 'config'>): Promise<number> {
  return (await readOperation({ config, db: { kysely: db } })).artifactQuotaMb * bytesPerMegabyte;
}

async function usedBy(db: Queryable, userId: string): Promise<number> {
  const { rows } = await sql<{ used: string }>`
    select (select coalesce(sum(size), 0) from artifacts where created_by = ${userId} and changed_at is null)
      + (select coalesce(sum(size), 0) from artifacts where changed_by = ${userId})
      + (select coalesce(sum(size), 0) from artifact_versions where author_id = ${userId})
      + (select coalesce(sum(size), 0) from (
          select distinct f.assistant_id, f.sha256, f.size from assistant_version_files f
          where f.created_by = ${userId} and not exists (
            select from artifacts a where a.assistant_id = f.assistant_id and a.sha256 = f.sha256)
          and not exists (select from artifact_versions v where v.artifact_id = f.artifact_id and v.sha256 = f.sha256)
        ) earlier) as used`.execute(db);
  return Number(rows[0]?.used ?? 0);
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / bytesPerMegabyte).toLocaleString('en-US')} MB`;
}
