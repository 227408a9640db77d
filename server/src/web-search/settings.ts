import type { User } from '@homeport/contracts/fields';
import type { SearchKind } from '@homeport/contracts/search-kinds';
import type { OwnWebSearch, WebSearchChange, WebSearchSettings } from '@homeport/contracts/web-search';
import type { Selectable } from 'kysely';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import type { WebSearchSettingsTable } from '../db/tables/people.ts';
import type { Platform } from '../platform.ts';
import { type BoundPlace, openFor, openForOwner, originOf, resealBound, sealFor } from '../secrets/bound.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type Resealed, readable } from '../secrets/reseal.ts';
import { type SearchAccess, usualOrigin } from './search.ts';

/** The only writer of `web_search_settings`. Nothing is cached: a change takes effect with the next call. */

type Row = Pick<
  Selectable<WebSearchSettingsTable>,
  'id' | 'kind' | 'base_url' | 'api_key' | 'for_everyone' | 'ask_after_reading'
>;
type SettingsDeps = { db: Pick<Database, 'kysely'>; secrets: KeyRing };
/** A change of a person's own settings lacks `forEveryone`. */
type Change = Pick<WebSearchChange, 'kind' | 'baseUrl' | 'apiKey' | 'forEveryone' | 'askAfterReading'>;
type Given = Pick<WebSearchChange, 'kind' | 'baseUrl' | 'apiKey'>;

export const installation = 'installation';
const columns = ['id', 'kind', 'base_url', 'api_key', 'for_everyone', 'ask_after_reading'] as const;

/** The installation's settings for administrators. */
export async function getWebSearchSettings(deps: SettingsDeps): Promise<WebSearchSettings> {
  return toView(deps, await readRow(deps.db.kysely, installation));
}

/** A person's own settings; without any, the installation's rule for approvals shows. */
export async function getOwnWebSearch(deps: SettingsDeps, user: Pick<User, 'id' | 'role'>): Promise<OwnWebSearch> {
  const [own, general] = await Promise.all([findRow(deps.db.kysely, user.id), readRow(deps.db.kysely, installation)]);
  const { forEveryone: _, askAfterReading, ...service } = toView(deps, own ?? newRow(user.id));
  return {
    ...service,
    askAfterReading: (own === undefined ? general.ask_after_reading : askAfterReading) === 'off' ? 'off' : 'on',
    isAskForced: general.ask_after_reading === 'forced',
    isOffered: isOffered(general, user),
  };
}

/**
 * Replaces settings; an omitted key, `forEveryone` and `askAfterReading` are kept. A kept key belongs to its former
 * origin and is sent nowhere else.
 */
export async function changeWebSearch(deps: SettingsDeps, id: string, change: Change, by: AuditSource): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    if (id !== installation) await trx.selectFrom('users').select('id').where('id', '=', id).forNoKeyUpdate().execute();
    const locked = trx.selectFrom('web_search_settings').select(columns).where('id', '=', id).forUpdate();
    const before = (await locked.executeTakeFirst()) ?? {
      ...newRow(id),
      ask_after_reading: (await readRow(trx, installation)).ask_after_reading === 'off' ? 'off' : 'on',
    };
    const after = changed(deps, before, change);
    const { id: _, ...values } = after;
    await trx
      .insertInto('web_search_settings')
      .values({ ...after, user_id: id === installation ? null : id })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...values, updated_at: new Date() }))
      .execute();
    const target = id === installation ? {} : { targetType: 'user', targetId: id };
    const details = { kind: after.kind, changed: differences(before, after) };
    await recordEvent(trx, by, { action: 'web_search.updated', ...target, details });
  });
}

/**
 * The service to try: the stored settings with the given ones in their place. Undefined if it is off. Throws
 * `credentials_unreadable`.
 */
export async function findTestedService(
  deps: SettingsDeps,
  id: string,
  given: Partial<Given>,
): Promise<SearchAccess | undefined> {
  const row = (await findRow(deps.db.kysely, id)) ?? newRow(id);
  const { kind, baseUrl, apiKey } = given;
  const address = kind === undefined && baseUrl === undefined ? row.base_url : toOrigin(baseUrl);
  const place: Row = { ...row, kind: kind ?? row.kind, base_url: address };
  if (!isOn(place)) return undefined;
  if (apiKey === undefined) return toSearchAccess(deps, place);
  return { kind: place.kind, origin: addressOf(place), apiKey: apiKey ?? undefined };
}

/** A service as it is stored, with its sealed key. */
export type UsedService = Row & { kind: SearchKind };

/** Service of a person: their own, else the installation's if they may use it; undefined without one. */
export async function findUsedService(db: Queryable, userId: string): Promise<UsedService | undefined> {
  const [own, general] = await Promise.all([findRow(db, userId), readRow(db, installation)]);
  if (own !== undefined && isOn(own)) return own;
  if (!isOn(general)) return undefined;
  if (general.for_everyone) return general;
  const user = await db.selectFrom('users').select('role').where('id', '=', userId).executeTakeFirst();
  return user?.role === 'admin' ? general : undefined;
}

/** Decrypts the key for one search. Throws `credentials_unreadable`. */
export function toSearchAccess(deps: Pick<SettingsDeps, 'secrets'>, service: UsedService): SearchAccess {
  const { kind, api_key: envelope } = service;
  const apiKey = envelope === null ? undefined : openFor(deps.secrets, placeOf(service), envelope);
  return { kind, origin: addressOf(service), apiKey };
}

/** Whether tools with effects need approval once an answer to this person has read from the web. */
export async function asksAfterReading(db: Queryable, userId: string): Promise<boolean> {
  const [own, general] = await Promise.all([findRow(db, userId), readRow(db, installation)]);
  if (general.ask_after_reading === 'forced') return true;
  return (own ?? general).ask_after_reading !== 'off';
}

function isOn(row: Row): row is UsedService {
  return row.kind !== 'off';
}

/** The result of a rotation, counted in envelopes. */
type SearchKeyRotation = Record<Exclude<Resealed['state'], 'absent'>, number> & { unreadableIds: string[] };

/** Seals all keys with the current key of the installation; one entered in the meantime stays. */
export async function resealSearchKeys(deps: SettingsDeps): Promise<SearchKeyRotation> {
  const rotation: SearchKeyRotation = { resealed: 0, current: 0, unreadable: 0, unreadableIds: [] };
  const { kysely } = deps.db;
  const sealed = await kysely
    .selectFrom('web_search_settings')
    .select(columns)
    .where('api_key', 'is not', null)
    .execute();
  for (const row of sealed) {
    const { state, envelope } = resealBound(deps.secrets, placeOf(row), row.api_key);
    if (state === 'absent') continue;
    rotation[state] += 1;
    if (state === 'unreadable') rotation.unreadableIds.push(row.id);
    if (state !== 'resealed') continue;
    const update = kysely.updateTable('web_search_settings').set({ api_key: envelope });
    await update.where('id', '=', row.id).where('api_key', '=', row.api_key).execute();
  }
  return rotation;
}

function changed(deps: SettingsDeps, before: Row, change: Change): Row {
  const place = { ...before, kind: change.kind, base_url: toOrigin(change.baseUrl) };
  return {
    ...place,
    api_key: nextKey(deps, before, place, change.apiKey),
    for_everyone: change.forEveryone ?? before.for_everyone,
    ask_after_reading: change.askAfterReading ?? before.ask_after_reading,
  };
}

/** Entering the same key keeps its envelope. */
function nextKey(deps: SettingsDeps, before: Row, after: Row, given: string | null | undefined): string | null {
  if (given === undefined) return before.api_key;
  if (given === null) return null;
  const { api_key: envelope } = before;
  const isSame = envelope !== null && readable(() => openFor(deps.secrets, placeOf(after), envelope)) === given;
  return isSame ? envelope : sealFor(deps.secrets, placeOf(after), given);
}

function toView(deps: SettingsDeps, row: Row): WebSearchSettings {
  const { kind, base_url: baseUrl, api_key: envelope, for_everyone: forEveryone, ask_after_reading } = row;
  const view = { kind, baseUrl, hasApiKey: envelope !== null, forEveryone, askAfterReading: ask_after_reading };
  if (envelope === null) return view;
  const found = readable(() => openForOwner(deps.secrets, placeOf(row), envelope));
  if (found === undefined) return { ...view, credentialsError: 'credentials_unreadable' };
  const isOff = kind === 'off';
  return isOff || found.origin === originOf(addressOf(row)) ? view : { ...view, credentialsOrigin: found.origin };
}

function isOffered(general: Row, { role }: Pick<User, 'role'>): boolean {
  return general.kind !== 'off' && (general.for_everyone || role === 'admin');
}

function placeOf(row: Pick<Row, 'id' | 'kind' | 'base_url'>): BoundPlace {
  return { table: 'web_search_settings', row: row.id, column: 'api_key', owner: row.id, address: addressOf(row) };
}

function addressOf({ kind, base_url: baseUrl }: Pick<Row, 'kind' | 'base_url'>): string {
  return baseUrl ?? (kind === 'off' ? '' : usualOrigin(kind));
}

function toOrigin(baseUrl: string | null | undefined): string | null {
  return baseUrl === undefined || baseUrl === null ? null : originOf(baseUrl);
}

function newRow(id: string): Row {
  const kind: 'off' | SearchKind = 'off';
  return { id, kind, base_url: null, api_key: null, for_everyone: true, ask_after_reading: 'on' };
}

function findRow(db: Queryable, id: string): Promise<Row | undefined> {
  return db.selectFrom('web_search_settings').select(columns).where('id', '=', id).executeTakeFirst();
}

function readRow(db: Queryable, id: string): Promise<Row> {
  return db.selectFrom('web_search_settings').select(columns).where('id', '=', id).executeTakeFirstOrThrow();
}

const settingNames = {
  kind: 'kind',
  base_url: 'baseUrl',
  api_key: 'apiKey',
  for_everyone: 'forEveryone',
  ask_after_reading: 'askAfterReading',
} as const;

function differences(before: Row, after: Row): string[] {
  const names = Object.entries(settingNames);
  return names.filter(([name]) => Reflect.get(before, name) !== Reflect.get(after, name)).map(([, shown]) => shown);
}

/** Deletes a person's key with their account, also where their conversations are kept. */
export async function deleteOwnWebSearch(db: Queryable, userId: string): Promise<void> {
  await db.deleteFrom('web_search_settings').where('user_id', '=', userId).execute();
}

export type WebSearchDeps = Pick<Platform, 'db' | 'secrets' | 'egress' | 'clock'>;
