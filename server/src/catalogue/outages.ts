import type { Outage } from '@homeport/contracts/catalogue/catalogue';
import type { Queryable } from '../db/pool.ts';
import { openProviderIds, outageOf } from './circuits.ts';

type FailingProvider = { providerId: string; name: string; owner: { id: string; name: string } | null; outage: Outage };

const shownMax = 20;

/** Providers whose circuit is open on this replica, those that fail longest first. */
export async function listOutages(db: Queryable): Promise<FailingProvider[]> {
  const ids = openProviderIds();
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('providers')
    .leftJoin('users', 'users.id', 'providers.owner_id')
    .select(['providers.id', 'providers.name', 'providers.base_url', 'providers.owner_id', 'users.name as owner_name'])
    .where('providers.id', 'in', ids)
    .where('providers.enabled', '=', true)
    .execute();
  const found = rows.flatMap(({ id, name, base_url, owner_id, owner_name }) => {
    const outage = outageOf({ id, base_url });
    if (outage === undefined) return [];
    const owner = owner_name === null ? null : { id: owner_id, name: owner_name };
    return [{ providerId: id, name, owner, outage }];
  });
  return found.toSorted((a, b) => a.outage.since.localeCompare(b.outage.since)).slice(0, shownMax);
}
