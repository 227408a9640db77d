import type { OidcConfiguration } from '@homeport/contracts/accounts/single-sign-on';
import { ApiError, type FieldError } from '@homeport/contracts/errors';
import { type BoundPlace, openFor, openForOwner, originOf, resealBound, sealFor } from '../secrets/bound.ts';
import { isBound, type KeyRing, type SecretPlace, seal } from '../secrets/key-ring.ts';
import { type Resealed, readable, reseal } from '../secrets/reseal.ts';

/** The OIDC configuration as stored; `clientSecret` is an envelope. */
export type OidcSettings = Omit<OidcConfiguration, 'hasClientSecret' | 'credentialsError' | 'credentialsOrigin'> & {
  clientSecret: string | null;
};

type Secrets = { secrets: KeyRing };

/** Used until administrators change it (control-plane-api.md "OIDC configuration"). */
export const defaultOidc: Readonly<Omit<OidcSettings, 'clientSecret'>> = {
  enabled: false,
  providerKey: 'sso',
  label: 'SSO',
  issuer: '',
  discoveryUrl: '',
  clientId: '',
  scopes: 'openid profile email',
  autoProvision: false,
  linkByEmail: false,
  allowedDomains: [],
  trustEmail: false,
  prompt: 'none',
  endSession: false,
  syncProfile: false,
  tokenAuth: 'auto',
};

const secretPlace: SecretPlace = { table: 'settings', row: 'installation', column: 'oidc_client_secret' };

/** The members that determine where the client secret is sent. */
type Addresses = Pick<OidcSettings, 'issuer' | 'discoveryUrl'>;

/** Encrypts the client secret for the provider's current address; without an address, it is bound to the first one. */
export function sealClientSecret(deps: Secrets, addresses: Addresses, secret: string | null): string | null {
  if (secret === null) return null;
  return addressOf(addresses) !== ''
    ? sealFor(deps.secrets, placeOf(addresses), secret)
    : seal(deps.secrets, secretPlace, secret);
}

/** Decrypts the client secret just before it is sent to the configured provider. Throws `credentials_unreadable`. */
export function openClientSecret(deps: Secrets, oidc: Addresses & { clientSecret: string | null }): string | undefined {
  return oidc.clientSecret === null ? undefined : openFor(deps.secrets, placeOf(oidc), oidc.clientSecret);
}

/**
 * Seals the client secret under the current key and binds it to its provider. Returns the envelope and the steps taken.
 */
export function resealClientSecret(deps: Secrets, oidc: Addresses & { clientSecret: string | null }): Resealed {
  const isBindable = addressOf(oidc) !== '' || (oidc.clientSecret !== null && isBound(oidc.clientSecret));
  return isBindable
    ? resealBound(deps.secrets, placeOf(oidc), oidc.clientSecret)
    : reseal(deps.secrets, secretPlace, oidc.clientSecret);
}

/**
 * The envelope after the address changed without the secret being entered again: it belongs to the former address, or
 * to the first one there is.
 */
export function keepClientSecret(deps: Secrets, before: OidcSettings, after: Addresses): string | null {
  const addresses = addressOf(before) === '' ? after : before;
  return resealClientSecret(deps, { ...addresses, clientSecret: before.clientSecret }).envelope;
}

/**
 * The discovery document's address, since that document names the endpoint that gets the secret; empty if there is none
 * yet.
 */
function addressOf({ issuer, discoveryUrl }: Addresses): string {
  return discoveryUrl === '' ? issuer : discoveryUrl;
}

function placeOf(addresses: Addresses): BoundPlace {
  return { ...secretPlace, owner: 'installation', address: addressOf(addresses) };
}

/** OIDC as administrators see it: never the secret. */
export function oidcView(deps: Secrets, oidc: OidcSettings): OidcConfiguration {
  const { clientSecret, ...rest } = oidc;
  if (clientSecret === null) return { ...rest, hasClientSecret: false };
  const place = placeOf(oidc);
  const found = readable(() => openForOwner(deps.secrets, place, clientSecret));
  if (found === undefined) return { ...rest, hasClientSecret: true, credentialsError: 'credentials_unreadable' };
  const isMoved = found.origin !== originOf(place.address);
  return { ...rest, hasClientSecret: true, ...(isMoved ? { credentialsOrigin: found.origin } : {}) };
}

/** Throws `invalid_request` if sign-in is enabled without what it needs. */
export function assertComplete(oidc: OidcSettings): void {
  if (!oidc.enabled) return;
  const details: FieldError[] = [];
  if (oidc.issuer === '' && oidc.discoveryUrl === '') {
    details.push({ path: 'oidc.issuer', message: 'Give the issuer or the discovery URL before switching it on' });
  }
  if (oidc.clientId === '') {
    details.push({ path: 'oidc.clientId', message: 'Give the client id before switching it on' });
  }
  const [first] = details;
  if (first !== undefined) throw new ApiError('invalid_request', first.message, { details });
}
