import type { Config } from '../config/config.ts';
import { installationOwner } from './catalogue-owner.ts';

/**
 * SQL: the user `u` has an enabled model, of their own or shared with them. Nothing in the subqueries depends on `u`,
 * so the database evaluates each once for a list of any length.
 */
export function hasModel({ edition }: Pick<Config, 'edition'>, u: string): string {
  if (edition === 'managed') return `exists (${usable('m.id', `m.owner_id = '${installationOwner}'`)})`;
  const sharer = `p.shared_with <> 'none' and exists (select from users sharer
    where sharer.id = p.owner_id and sharer.role = 'admin' and sharer.enabled)`;
  return `(exists (${usable('m.id', `p.shared_with = 'everyone' and ${sharer}`)})
    or ${u}.id in (${usable('m.owner_id', 'true')})
    or ${u}.id in (select named.user_id from provider_shares named where named.provider_id in (
      ${usable('p.id', `p.shared_with = 'users' and ${sharer}`)})))`;
}

function usable(column: string, condition: string): string {
  return `select ${column} from models m join providers p on p.id = m.provider_id
    where m.enabled and p.enabled and ${condition}`;
}
