import type { Model } from '@homeport/contracts/catalogue/catalogue';
import { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import type { Database, Queryable } from '../db/pool.ts';
import type { ResolvedModel } from './model-choice.ts';
import { isVisibleModel, sharedProviderIds } from './sharing.ts';

/** Models that answer when the provider of a model fails. Rights and regions are checked at each use. */

type Row = { model_id: string; stand_in_id: string };

/** The same models with their stand-ins. */
export async function withStandIns(db: Queryable, models: readonly Model[]): Promise<Model[]> {
  const ids = models.map(({ id }) => id);
  if (ids.length === 0) return [];
  const { rows } = await sql<Row>`select s.model_id, s.stand_in_id from model_stand_ins s
    where s.model_id = any(${ids}) order by s.model_id, s.position`.execute(db);
  const byModel = Map.groupBy(rows, (row) => row.model_id);
  return models.map((model) => ({
    ...model,
    standIns: (byModel.get(model.id) ?? []).map((row) => row.stand_in_id),
  }));
}

/** A stand-in by its names; null for one of another owner. */
type NamedStandIn = { provider: string; providerModelId: string } | null;

/** The stand-ins of the models of several owners, in order. */
export async function readNamedStandIns(
  db: Queryable,
  owners: readonly string[],
): Promise<Map<string, NamedStandIn[]>> {
  const { rows } = await sql<{ modelId: string; standIn: NamedStandIn }>`
    select s.model_id as "modelId", case when t.owner_id = m.owner_id
      then json_build_object('provider', p.name, 'providerModelId', t.provider_model_id) end as "standIn"
    from models m join model_stand_ins s on s.model_id = m.id join models t on t.id = s.stand_in_id
    join providers p on p.id = t.provider_id where m.owner_id = any(${owners}) order by s.model_id, s.position`.execute(
    db,
  );
  const byModel = Map.groupBy(rows, ({ modelId }) => modelId);
  return new Map([...byModel].map(([id, list]) => [id, list.map(({ standIn }) => standIn)]));
}

/**
 * Replaces the stand-ins of a model. Throws `invalid_request` if the model names itself, and `not_found` for a model that
 * its owner does not see.
 */
export async function storeStandIns(
  transaction: Queryable,
  owner: string,
  modelId: string,
  standIns: readonly string[],
): Promise<void> {
  if (standIns.includes(modelId)) {
    const message = 'A model cannot be its own stand-in';
    throw new ApiError('invalid_request', message, { details: [{ path: 'standIns', message }] });
  }
  const given = standIns.map((id, position) => ({ id, position }));
  const { rows } = await sql`
    select m.id from (select ${owner}::text as id) reader join models m on m.id = any(${standIns})
    where ${sql.raw(isVisibleModel('m', 'reader.id'))} order by m.id for key share of m`.execute(transaction);
  if (rows.length !== standIns.length) throw new ApiError('not_found', 'Model not found');
  await sql`delete from model_stand_ins where model_id = ${modelId}`.execute(transaction);
  if (given.length === 0) return;
  await sql`insert into model_stand_ins (model_id, position, stand_in_id)
    select ${modelId}, position, id from json_to_recordset(${JSON.stringify(given)}::json) as g (id text, position int)`.execute(
    transaction,
  );
}

const usable = {
  name: 'stand-ins-usable',
  text: `select m.id, p.region from model_stand_ins s join models m on m.id = s.stand_in_id
      join providers p on p.id = m.provider_id
    where s.model_id = $2 and m.enabled and p.enabled and (m.owner_id = $1 or p.id in (${sharedProviderIds('$1::text')}))
    order by s.position`,
};

/** The ids of the stand-ins that may answer for this owner now, in order: enabled, theirs, and in an allowed region. */
export async function usableStandIns(
  deps: { db: Pick<Database, 'pool'> },
  owner: string,
  { model, onlyRegions }: ResolvedModel,
): Promise<string[]> {
  if (!model.hasStandIns) return [];
  const { rows } = await deps.db.pool.query<{ id: string; region: string | null }>({
    ...usable,
    values: [owner, model.id],
  });
  return rows.filter(({ region }) => isAllowedRegion(onlyRegions, region)).map(({ id }) => id);
}

/** Compares the names of regions without case. An empty list allows every region, and a provider without one. */
function isAllowedRegion(onlyRegions: readonly string[], region: string | null): boolean {
  return onlyRegions.length === 0 || onlyRegions.some((allowed) => allowed.toLowerCase() === region?.toLowerCase());
}
