import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { ApiError, type FieldError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import { z } from 'zod';
import { type AuditSource, recordEvent } from '../../audit/audit.ts';
import { type Database, inTransaction } from '../../db/pool.ts';
import { findJsonExcess, foreignJsonBounds } from '../../platform/json/json-scan.ts';
import type { Platform } from '../../platform.ts';
import { type JobLimits, ParseFailure } from '../../sandbox/child.ts';
import { ParseRefused } from '../../sandbox/sandbox.ts';
import { ModelRegistry, parseRegistry, parseRegistryInTurns } from './registry.ts';

/**
 * Which registry counts: an uploaded one, otherwise the one that comes with Homeport. The only writer of
 * `model_registry`.
 */

type Deps = { db: Pick<Database, 'kysely'> };

let shipped: ModelRegistry | undefined;
/** The uploaded registry that was parsed last, by database. */
const uploaded = new WeakMap<object, { revision: number; registry: ModelRegistry }>();

/**
 * Read on first use, which takes some milliseconds: most requests do not need it. The build puts the file beside the
 * bundle.
 */
export function shippedRegistry(): ModelRegistry {
  shipped ??= ModelRegistry.of(
    parseRegistry(JSON.parse(readFileSync(new URL('./models.json', import.meta.url), 'utf8'))),
  );
  return shipped;
}

export async function currentRegistry({ db }: Deps): Promise<ModelRegistry> {
  const row = await db.kysely.selectFrom('model_registry').select('revision').executeTakeFirst();
  if (row === undefined) return shippedRegistry();
  const known = uploaded.get(db.kysely);
  if (known?.revision === row.revision) return known.registry;
  const read = await db.kysely.selectFrom('model_registry').select(['content', 'revision']).executeTakeFirst();
  // An administrator has just removed it.
  if (read === undefined) return shippedRegistry();
  const registry = await ModelRegistry.inTurns(await parseRegistryInTurns(JSON.parse(read.content)));
  uploaded.set(db.kysely, { revision: read.revision, registry });
  return registry;
}

export type RegistryState = { source: string; models: number; uploadedAt: string | null };

export async function describeRegistry(deps: Deps): Promise<RegistryState> {
  const { source, size } = await currentRegistry(deps);
  const row = await deps.db.kysely.selectFrom('model_registry').select('uploaded_at').executeTakeFirst();
  return { source, models: size, uploadedAt: row?.uploaded_at.toISOString() ?? null };
}

/** Replaces the previous one. Throws `invalid_request` for an invalid registry. */
export async function uploadRegistry(
  deps: Deps & Pick<Platform, 'sandbox'>,
  bytes: Uint8Array,
  by: AuditSource,
  signal: AbortSignal,
): Promise<RegistryState> {
  const { content, source } = await readUpload(deps, bytes, signal);
  await inTransaction(deps.db, async (trx) => {
    // Of two uploads at once the later one counts.
    await trx
      .insertInto('model_registry')
      .values({ content })
      .onConflict((conflict) =>
        conflict
          .column('singleton')
          .doUpdateSet({ content, revision: sql<number>`default`, uploaded_at: sql<Date>`now()` }),
      )
      .execute();
    await recordEvent(trx, by, { action: 'settings.updated', details: { changed: ['modelRegistry'], source } });
  });
  return describeRegistry(deps);
}

/** Returns to the one that comes with Homeport. */
export async function dropRegistry(deps: Deps, by: AuditSource): Promise<RegistryState> {
  await inTransaction(deps.db, async (trx) => {
    const { numDeletedRows } = await trx.deleteFrom('model_registry').executeTakeFirst();
    if (numDeletedRows > 0n) {
      await recordEvent(trx, by, { action: 'settings.updated', details: { changed: ['modelRegistry'] } });
    }
  });
  return describeRegistry(deps);
}

const jobLimits: JobLimits = { heapMb: 512, memoryBytes: 1024 * 1024 * 1024, stepMs: 30_000, cpuMs: 30_000 };
const fieldErrors = z.array(z.object({ path: z.string(), message: z.string() })).max(100);

/** Counted here, parsed and checked in a child process. */
async function readUpload(
  { sandbox }: Pick<Platform, 'sandbox'>,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<{ content: string; source: string }> {
  const excess = findJsonExcess(bytes, foreignJsonBounds);
  if (excess !== undefined) throw refused([{ path: '', message: excess.message }]);
  await setImmediate();
  const content = new TextDecoder().decode(bytes);
  try {
    const job = await sandbox.open('registry', { content }, { limits: jobLimits, signal });
    await job.close();
    return { content, source: z.string().min(1).max(500).parse(job.opened) };
  } catch (error) {
    if (error instanceof ParseRefused) throw refused(fieldErrors.parse(error.data), error);
    if (error instanceof ParseFailure && error.reason !== 'interrupted') throw refused([], error);
    throw error;
  }
}

function refused(details: FieldError[], cause?: unknown): ApiError {
  const message = 'This is no registry of models. docs/models.md says how to make one.';
  return new ApiError('invalid_request', message, {
    cause,
    details: details.length > 0 ? details : [{ path: '', message }],
  });
}
