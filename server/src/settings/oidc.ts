import type { OidcConfiguration } from '@homeport/contracts/admin';
import { ApiError, type FieldError } from '@homeport/contracts/errors';
import { type KeyRing, open, type SecretPlace, seal } from '../secrets/key-ring.ts';
import { type Resealed, readable, reseal } from '../secrets/reseal.ts';

/** The OIDC configuration as it is stored; `clientSecret` is an envelope. */
export type OidcSettings = Omit<OidcConfiguration, 'hasClientSecret' | 'credentialsError'> & {
  clientSecret: string | null;
};

type Secrets = { secrets: KeyRing };

/** What is used until administrators say otherwise (control-plane-api.md "OIDC configuration"). */
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
};

const secretPlace: SecretPlace = { table: 'settings', row: 'installation', column: 'oidc_client_secret' };

export function sealClientSecret(deps: Secrets, secret: string | null): string | null {
  return secret === null ? null : seal(deps.secrets, secretPlace, secret);
}

/** Decrypts the client secret just before use. Throws `credentials_unreadable`. */
export function openClientSecret(deps: Secrets, envelope: string | null): string | undefined {
  return envelope === null ? undefined : open(deps.secrets, secretPlace, envelope);
}

/** The envelope under the current key, and what it took to get there. */
export function resealClientSecret(deps: Secrets, envelope: string | null): Resealed {
  return reseal(deps.secrets, secretPlace, envelope);
}

/** OIDC as administrators see it: never the secret. */
export function oidcView(deps: Secrets, oidc: OidcSettings): OidcConfiguration {
  const { clientSecret, ...rest } = oidc;
  const hasClientSecret = clientSecret !== null;
  const isReadable = !hasClientSecret || readable(() => openClientSecret(deps, clientSecret)) !== undefined;
  return { ...rest, hasClientSecret, ...(isReadable ? {} : { credentialsError: 'credentials_unreadable' }) };
}

/** Throws `invalid_request` when sign-in is switched on without what it needs. */
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
