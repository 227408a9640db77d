import type { SharedWith } from '@homeport/contracts/catalogue/catalogue';
import { sql } from 'kysely';
import { type FieldOf, fieldOf } from '../db/column-list.ts';
import type { Queryable } from '../db/pool.ts';
import type { CatalogueTransaction } from './catalogue-owner.ts';
import { sharedColumn, storeShares } from './sharing.ts';
import type { ProviderRow } from './views.ts';

type Column = Exclude<keyof ProviderRow, 'id' | 'seq' | 'owner_id' | 'shared_with' | 'created_at' | 'updated_at'>;

/** Columns that a batch writes, with their SQL types. One that is missing here does not compile. */
const columns: Record<Column, 'text' | 'boolean' | 'int' | 'jsonb'> = {
  name: 'text',
  kind: 'text',
  base_url: 'text',
  api_key: 'text',
  headers: 'text',
  enabled: 'boolean',
  first_byte_seconds: 'int',
  region: 'text',
  only_regions: 'jsonb',
};
const names = Object.keys(columns);
const members = names.map((name) => `x."${fieldOf(name)}"`);

/** A provider row as written in a batch; `apiKey` and `headers` are envelopes. */
export type ProviderRecord = { id: string; owner: string; sharedWith: SharedWith } & {
  [Name in Column as FieldOf<Name>]: ProviderRow[Name];
};

/** The providers of several owners, each owner's oldest first. */
export async function readProviders(db: Queryable, owners: readonly string[]): Promise<ProviderRow[]> {
  if (owners.length === 0) return [];
  return db.selectFrom('providers').selectAll().where('owner_id', 'in', owners).orderBy('seq').execute();
}

/** Adds providers in the order given. */
export async function insertProviders(
  transaction: CatalogueTransaction,
  records: readonly ProviderRecord[],
): Promise<void> {
  if (records.length === 0) return;
  await sql`
    insert into providers (id, owner_id, shared_with, ${sql.raw(names.join(', '))})
    select x.id, x.owner, x.shared, ${sql.raw(members.join(', '))} from ${providerRecords(records)}
    order by x.place`.execute(transaction);
  await storeShares(transaction, records);
}

/** Updates existing providers, whose owners stay. */
export async function updateProviders(
  transaction: CatalogueTransaction,
  records: readonly ProviderRecord[],
): Promise<void> {
  if (records.length === 0) return;
  const changes = names.map((name, index) => `${name} = ${members[index]}`).join(', ');
  await sql`
    update providers p set ${sql.raw(changes)}, shared_with = x.shared, updated_at = now()
    from ${providerRecords(records)} where p.id = x.id`.execute(transaction);
  await storeShares(transaction, records);
}

function providerRecords(records: readonly ProviderRecord[]) {
  const rows = records.map((record, place) => ({ place, ...record, shared: sharedColumn(record.sharedWith) }));
  const types = Object.entries(columns).map(([name, type]) => `"${fieldOf(name)}" ${type}`);
  return sql`json_to_recordset(${JSON.stringify(rows)}::json)
    as x (place int, id text, owner text, shared text, ${sql.raw(types.join(', '))})`;
}
