import type { Selectable } from 'kysely';
import type { ProvidersTable } from '../db/tables/catalogue.ts';
import { type BoundPlace, openFor, openForOwner, originOf, resealBound, sealFor } from '../secrets/bound.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type Resealed, readable } from '../secrets/reseal.ts';

/** Columns of a provider that determine its owner and the allowed destination of its credentials. */
export type ProviderPlace = Pick<Selectable<ProvidersTable>, 'id' | 'owner_id' | 'base_url'>;

/** The columns of a provider that are needed to call it. */
export type StoredProvider = ProviderPlace & Pick<Selectable<ProvidersTable>, 'api_key' | 'headers'>;

/** Decrypted for one call; never kept, logged or shown. */
export type Credentials = { apiKey: string | undefined; headers: Record<string, string> };

type Secrets = { secrets: KeyRing };
type Column = 'api_key' | 'headers';

/** Decrypts a provider's credentials just before they are sent to its address. Throws `credentials_unreadable`. */
export function resolveCredentials(deps: Secrets, provider: StoredProvider): Credentials {
  const { api_key, headers } = provider;
  return {
    apiKey: api_key === null ? undefined : openFor(deps.secrets, placeOf(provider, 'api_key'), api_key),
    headers: headers === null ? {} : parseHeaders(openFor(deps.secrets, placeOf(provider, 'headers'), headers)),
  };
}

/** The envelope of an API key; null clears it. */
export function sealApiKey(deps: Secrets, provider: ProviderPlace, apiKey: string | null): string | null {
  return apiKey === null ? null : sealFor(deps.secrets, placeOf(provider, 'api_key'), apiKey);
}

/** All custom headers in one envelope; none if there are no headers. */
export function sealHeaders(deps: Secrets, provider: ProviderPlace, headers: Record<string, string>): string | null {
  if (Object.keys(headers).length === 0) return null;
  return sealFor(deps.secrets, placeOf(provider, 'headers'), JSON.stringify(headers));
}

/** A stored value, the origin it belongs to, and whether that is the origin of the provider's address. */
export type FoundCredential<T> = { value: T; origin: string; isForAddress: boolean };

/** A stored API key; undefined if there is none or no key opens it. */
export function findApiKey(
  deps: Secrets,
  provider: ProviderPlace,
  envelope: string | null,
): FoundCredential<string> | undefined {
  return envelope === null ? undefined : find(deps, provider, 'api_key', envelope, (text) => text);
}

/** The stored custom headers, empty if there are none; undefined if no key opens them. */
export function findHeaders(
  deps: Secrets,
  provider: ProviderPlace,
  envelope: string | null,
): FoundCredential<Record<string, string>> | undefined {
  if (envelope === null) return { value: {}, origin: originOf(provider.base_url), isForAddress: true };
  return find(deps, provider, 'headers', envelope, parseHeaders);
}

/**
 * Describes the credentials for a list: an unreadable envelope is reported and breaks nothing. `otherOrigin` is the
 * origin they belong to if that is no longer the provider's.
 */
export function describeCredentials(
  deps: Secrets,
  provider: StoredProvider,
): { headers: Record<string, string>; isReadable: boolean; otherOrigin: string | undefined } {
  const headers = findHeaders(deps, provider, provider.headers);
  const key = findApiKey(deps, provider, provider.api_key);
  return {
    headers: headers?.value ?? {},
    isReadable: headers !== undefined && (key !== undefined || provider.api_key === null),
    otherOrigin: [key, headers].find((found) => found?.isForAddress === false)?.origin,
  };
}

/** The provider with its envelopes bound to the address that is about to change. */
export function bindCredentials<T extends StoredProvider>(deps: Secrets, provider: T): T {
  const { api_key, headers } = provider;
  return {
    ...provider,
    api_key: reseal(deps, provider, 'api_key', api_key).envelope,
    headers: reseal(deps, provider, 'headers', headers).envelope,
  };
}

/** Seals an envelope with the current key, bound to owner and origin, unless it already is. */
export function reseal(deps: Secrets, provider: ProviderPlace, column: Column, envelope: string | null): Resealed {
  return resealBound(deps.secrets, placeOf(provider, column), envelope);
}

function find<T>(
  deps: Secrets,
  provider: ProviderPlace,
  column: Column,
  envelope: string,
  read: (text: string) => T,
): FoundCredential<T> | undefined {
  const found = readable(() => openForOwner(deps.secrets, placeOf(provider, column), envelope));
  if (found === undefined) return undefined;
  const { text, origin } = found;
  return { value: read(text), origin, isForAddress: origin === originOf(provider.base_url) };
}

function parseHeaders(text: string): Record<string, string> {
  const entries = Object.entries(JSON.parse(text) ?? {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function placeOf({ id, owner_id, base_url }: ProviderPlace, column: Column): BoundPlace {
  return { table: 'providers', row: id, column, owner: owner_id, address: base_url };
}
