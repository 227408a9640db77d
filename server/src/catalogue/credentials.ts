import type { Selectable } from 'kysely';
import type { ProvidersTable } from '../db/tables.ts';
import { type KeyRing, open, type SecretPlace, seal } from '../secrets/key-ring.ts';
import { type Resealed, readable, reseal as resealEnvelope } from '../secrets/reseal.ts';

/** The columns of a provider that a call to it needs. */
export type StoredProvider = Pick<Selectable<ProvidersTable>, 'id' | 'base_url' | 'api_key' | 'headers'>;

/** Decrypted, for one call; never kept, logged or shown. */
export type Credentials = { apiKey: string | undefined; headers: Record<string, string> };

type Secrets = { secrets: KeyRing };

/** Decrypts a provider's credentials just before use. Throws `credentials_unreadable`. */
export function resolveCredentials(deps: Secrets, provider: StoredProvider): Credentials {
  const { id, api_key, headers } = provider;
  return {
    apiKey: api_key === null ? undefined : open(deps.secrets, placeOf(id, 'api_key'), api_key),
    headers: headers === null ? {} : openHeaders(deps.secrets, id, headers),
  };
}

/** The envelope of an API key; null clears it. */
export function sealApiKey(deps: Secrets, providerId: string, apiKey: string | null): string | null {
  return apiKey === null ? null : seal(deps.secrets, placeOf(providerId, 'api_key'), apiKey);
}

/** The one envelope of all custom headers; none when there are none. */
export function sealHeaders(deps: Secrets, providerId: string, headers: Record<string, string>): string | null {
  if (Object.keys(headers).length === 0) return null;
  return seal(deps.secrets, placeOf(providerId, 'headers'), JSON.stringify(headers));
}

/** What a list may show of the credentials: an unreadable envelope is told, and breaks nothing. */
export function describeCredentials(
  deps: Secrets,
  provider: StoredProvider,
): { headers: Record<string, string>; isReadable: boolean } {
  const headers = readable(() => resolveCredentials(deps, { ...provider, api_key: null }).headers);
  const key = readable(() => resolveCredentials(deps, { ...provider, headers: null }));
  return { headers: headers ?? {}, isReadable: headers !== undefined && key !== undefined };
}

/** Seals an envelope with the current key if it has another one. */
export function reseal(
  deps: Secrets,
  providerId: string,
  column: 'api_key' | 'headers',
  envelope: string | null,
): Resealed {
  return resealEnvelope(deps.secrets, placeOf(providerId, column), envelope);
}

function openHeaders(ring: KeyRing, providerId: string, envelope: string): Record<string, string> {
  const content: unknown = JSON.parse(open(ring, placeOf(providerId, 'headers'), envelope));
  const entries = Object.entries(content ?? {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function placeOf(providerId: string, column: 'api_key' | 'headers'): SecretPlace {
  return { table: 'providers', row: providerId, column };
}
