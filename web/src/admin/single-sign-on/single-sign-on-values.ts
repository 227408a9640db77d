import type { OidcConfiguration } from '@homeport/contracts/accounts/single-sign-on';
import { limits } from '@homeport/contracts/limits';
import type { CallOptions } from '../../api/api.ts';
import { originLeft } from '../../catalogue/provider-values.ts';
import { textFault } from '../../forms/rules.ts';
import type { Translate } from '../../i18n/i18n.ts';

/**
 * The values of the single sign-on form. `clientSecret` is always a new one: the stored one never reaches the browser.
 */
export type SingleSignOnValues = Omit<
  OidcConfiguration,
  'hasClientSecret' | 'credentialsError' | 'credentialsOrigin'
> & {
  clientSecret: string;
  clearsSecret: boolean;
};

export function singleSignOnValues({
  hasClientSecret: _,
  credentialsError: __,
  credentialsOrigin: ___,
  ...stored
}: OidcConfiguration): SingleSignOnValues {
  return { ...stored, allowedDomains: [...stored.allowedDomains], clientSecret: '', clearsSecret: false };
}

/** An unfinished configuration can be saved as long as it is off. */
export function singleSignOnFaults(values: SingleSignOnValues, t: Translate): Record<string, string | null> {
  const needed = (value: string) => (values.enabled && value.trim() === '' ? t('form.required') : null);
  const long = (value: string, max: number) => (value.trim().length > max ? t('form.tooLong', { max }) : null);
  return {
    label: textFault(values.label, limits.oidcLabelMax, t),
    providerKey: /^[a-z0-9][a-z0-9-]{1,38}$/.test(values.providerKey) ? null : t('sso.providerKeyBad'),
    issuer: needed(values.issuer + values.discoveryUrl) ?? urlFault(values.issuer, t),
    discoveryUrl: urlFault(values.discoveryUrl, t),
    clientId: needed(values.clientId) ?? long(values.clientId, limits.oidcClientIdMax),
    clientSecret: long(values.clientSecret, limits.oidcClientSecretMax),
    scopes: textFault(values.scopes, limits.oidcScopesMax, t) ?? scopesFault(values.scopes, t),
  };
}

function scopesFault(scopes: string, t: Translate): string | null {
  return scopes.trim().split(/ +/).includes('openid') ? null : t('sso.scopesHint');
}

type Patch = NonNullable<CallOptions<'POST /api/admin/config'>['body']['oidc']>;

export function singleSignOnPatch(values: SingleSignOnValues): Patch {
  const { clientSecret, clearsSecret, ...rest } = values;
  return {
    ...rest,
    label: rest.label.trim(),
    issuer: rest.issuer.trim(),
    discoveryUrl: rest.discoveryUrl.trim(),
    clientId: rest.clientId.trim(),
    scopes: rest.scopes.trim(),
    ...(clearsSecret ? { clientSecret: null } : clientSecret === '' ? {} : { clientSecret }),
  };
}

/** The origin of the stored secret, if the entered origin is a different one without a new secret. */
export function originOfSecret(stored: OidcConfiguration, values: SingleSignOnValues): string | undefined {
  if (!stored.hasClientSecret || values.clientSecret !== '' || values.clearsSecret) return undefined;
  return originLeft({ ...stored, address: addressOf(stored) }, addressOf(values));
}

/** Address that determines the destination of the secret: the discovery document or, without one, the issuer. */
function addressOf({ issuer, discoveryUrl }: Pick<SingleSignOnValues, 'issuer' | 'discoveryUrl'>): string {
  return discoveryUrl.trim() === '' ? issuer : discoveryUrl;
}

/** The values that a test depends on; its result is valid only as long as none of them changes. */
export function connectionOf(values: SingleSignOnValues): string {
  const { issuer, discoveryUrl, clientId, clientSecret, clearsSecret, scopes } = values;
  const { trustEmail, prompt, endSession, tokenAuth } = values;
  return JSON.stringify([
    issuer.trim(),
    discoveryUrl.trim(),
    clientId.trim(),
    clientSecret,
    clearsSecret,
    scopes.trim(),
    ...[trustEmail, prompt, endSession, tokenAuth],
  ]);
}

const domainPattern = /^(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))+$/;

/** Domains in typed or pasted text, including `@example.org`; `bad` are the invalid words. */
export function readDomains(text: string): { domains: string[]; bad: string[] } {
  const words = text.split(/[\s,;]+/).filter((word) => word !== '');
  const domains: string[] = [];
  const bad: string[] = [];
  for (const word of words) {
    const typed = word.slice(word.lastIndexOf('@') + 1).toLowerCase();
    // As DNS has it; the parser would also change what is ASCII already.
    const domain = /^\p{ASCII}*$/u.test(typed) ? typed : (URL.parse(`http://${typed}`)?.hostname ?? typed);
    if (domainPattern.test(domain) && domain.length <= 253) domains.push(domain);
    else bad.push(word);
  }
  return { domains: [...new Set(domains)], bad };
}

function urlFault(text: string, t: Translate): string | null {
  const url = text.trim();
  if (url === '') return null;
  if (url.length > limits.baseUrlMax) return t('form.tooLong', { max: limits.baseUrlMax });
  return /^https?:\/\//i.test(url) && URL.canParse(url) ? null : t('sso.urlBad');
}
