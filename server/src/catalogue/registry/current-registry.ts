import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { ApiError, type FieldError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import { z } from 'zod';
import { type AuditSource, recordEvent } from '../../audit.ts';
import { type Database, inTransaction } from '../../db/pool.ts';
import { findJsonExcess, foreignJsonBounds } from '../../json-scan.ts';
import { ModelRegistry, parseRegistry, parseRegistryInTurns } from './registry.ts';

/**
 * Which registry counts: an uploaded one, otherwise the one that comes with Homeport. The only writer of
 * `model_registry`.
 */

type Deps = { db: Pick<Database, 'kysely'> };

let shipped: ModelRegistry | undefined;
let uploaded: { revision: number; registry: ModelRegistry } | undefined;

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
  if (uploaded?.revision !== row.revision) {
    const read = await db.kysely.selectFrom('model_registry').select(['content', 'revision']).executeTakeFirst();
    // Somebody has just dropped it.
    if (read === undefined) return shippedRegistry();
    const { content, revision } = read;
    uploaded = { revision, registry: await ModelRegistry.inTurns(await parseRegistryInTurns(JSON.parse(content))) };
  }
  return uploaded.registry;
}

export type RegistryState = { source: string; models: number; uploadedAt: string | null };

export async function describeRegistry(deps: Deps): Promise<RegistryState> {
  const { source, size } = await currentRegistry(deps);
  const row = await deps.db.kysely.selectFrom('model_registry').select('uploaded_at').executeTakeFirst();
  return { source, models: size, uploadedAt: row?.uploaded_at.toISOString() ?? null };
}

/** Replaces the previous one. Throws `invalid_request` for an invalid registry. */
export async function uploadRegistry(deps: Deps, bytes: Uint8Array, by: AuditSource): Promise<RegistryState> {
  const { content, source } = await readUpload(bytes);
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

/** In several turns of the event loop: five megabytes take tens of milliseconds in each step. */
async function readUpload(bytes: Uint8Array): Promise<{ content: string; source: string }> {
  try {
    const excess = findJsonExcess(bytes, foreignJsonBounds);
    if (excess !== undefined) throw new SyntaxError(excess.message);
    await setImmediate();
    const content = new TextDecoder().decode(bytes);
    await setImmediate();
    const value = parse(content);
    await setImmediate();
    return { content, source: (await parseRegistryInTurns(value)).source };
  } catch (cause) {
    const message = 'This is no registry of models. docs/models.md says how to make one.';
    throw new ApiError('invalid_request', message, { cause, details: faultsOf(cause, message) });
  }
}

/** Without the parser's own message, which quotes the text. */
function parse(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    throw new SyntaxError('Not valid JSON');
  }
}

const faultsMax = 20;

function faultsOf(cause: unknown, message: string): FieldError[] {
  if (cause instanceof SyntaxError) return [{ path: '', message: cause.message }];
  if (!(cause instanceof z.ZodError)) return [{ path: '', message }];
  return cause.issues.slice(0, faultsMax).map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
}
