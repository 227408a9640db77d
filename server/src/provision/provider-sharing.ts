import type { SharedWith } from '@homeport/contracts/catalogue/catalogue';
import type { ManifestProvider } from '@homeport/contracts/provision/manifest';
import { readSharing } from '../catalogue/sharing.ts';
import type { ProviderRow } from '../catalogue/views.ts';
import type { Queryable } from '../db/pool.ts';
import { manifestError } from './manifest/manifest.ts';

/** With whom a manifest shares providers: it names people by their e-mail addresses. */

type Given = Pick<ManifestProvider, 'sharedWith'>;

/** The ids of the people that these providers name, by address. */
export async function readPeople(db: Queryable, providers: readonly Given[]): Promise<Map<string, string>> {
  const emails = new Set(
    providers.flatMap(({ sharedWith }) => (typeof sharedWith === 'object' ? sharedWith.emails : [])),
  );
  if (emails.size === 0) return new Map();
  const rows = await db
    .selectFrom('users')
    .select(['id', 'email'])
    .where('email', 'in', [...emails])
    .execute();
  return new Map(rows.map(({ id, email }) => [email, id]));
}

/** With whom to share, undefined to leave it. Throws `invalid_request` with the path. */
export function planSharing(
  { sharedWith }: Given,
  path: string,
  people: ReadonlyMap<string, string>,
  mayShare: boolean,
): SharedWith | undefined {
  if (sharedWith === undefined || sharedWith === 'none') return sharedWith;
  if (!mayShare) {
    const message = 'Only a provider of an administrator in the community edition can be shared';
    throw manifestError([{ path: `${path}.sharedWith`, message }]);
  }
  if (sharedWith === 'everyone') return sharedWith;
  const ids = sharedWith.emails.map((email, index) => {
    const id = people.get(email);
    if (id !== undefined) return id;
    throw manifestError([{ path: `${path}.sharedWith.emails.${index}`, message: 'No account has this address' }]);
  });
  return { userIds: [...new Set(ids)].sort() };
}

/** The sharing of each provider in an export; nothing for providers that are not shared. */
export async function exportSharing(
  db: Queryable,
  rows: readonly ProviderRow[],
): Promise<Map<string, Required<Given>['sharedWith']>> {
  const sharing = await readSharing(db, rows);
  const ids = new Set([...sharing.values()].flatMap((value) => (typeof value === 'object' ? value.userIds : [])));
  const users =
    ids.size === 0
      ? []
      : await db
          .selectFrom('users')
          .select(['id', 'email'])
          .where('id', 'in', [...ids])
          .execute();
  const emails = new Map(users.map(({ id, email }) => [id, email]));
  const exported = new Map<string, Required<Given>['sharedWith']>();
  for (const [id, value] of sharing) {
    if (value === 'none') continue;
    if (value === 'everyone') exported.set(id, value);
    else exported.set(id, { emails: value.userIds.flatMap((userId) => emails.get(userId) ?? []).sort() });
  }
  return exported;
}
