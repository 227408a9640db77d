import { isDiscoveryAddress } from '@homeport/contracts/accounts/single-sign-on';

/** The issuer of a provider (OpenID Connect Discovery, section 4), and that of Microsoft Entra, which has one per tenant. */

const discoveryPath = '/.well-known/openid-configuration';
/** Entra's own placeholder in the issuer of a document for several tenants. */
const placeholder = '{tenantid}';
/** Addresses of documents for people of any tenant. */
const anyTenant = ['common', 'organizations', 'consumers'];

/** The discovery document's address: as configured, or below the issuer; an issuer that is such an address already stays as it is. */
export function discoveryAddress(oidc: { issuer: string; discoveryUrl: string }): string {
  if (oidc.discoveryUrl !== '') return oidc.discoveryUrl;
  if (isDiscoveryAddress(oidc.issuer)) return oidc.issuer;
  return oidc.issuer.replace(placeholder, 'common').replace(/\/$/, '') + discoveryPath;
}

/**
 * The issuer that tokens must name, given the configured one and that of the document: the same, or one tenant's or a
 * template for all tenants where the document has a template. Undefined if they don't fit.
 */
export function effectiveIssuer(configured: string, named: string): string | undefined {
  if (configured === '' || configured === named || isDiscoveryAddress(configured)) return named;
  const tenant = tenantIn(named, configured);
  if (tenant === undefined) return undefined;
  return tenant === placeholder || anyTenant.includes(tenant) ? named : configured;
}

/** Whether each tenant has its own issuer, in place of a placeholder. */
export function isTemplate(issuer: string): boolean {
  return issuer.includes(placeholder);
}

/**
 * The issuer of one tenant, as its token names it: it must fit the template, and the tenant must be that of the token's
 * `tid`, if it has one.
 */
export function tenantIssuer(template: string, token: { iss?: unknown; tid?: unknown }): string | undefined {
  if (typeof token.iss !== 'string') return undefined;
  const tenant = tenantIn(template, token.iss);
  if (tenant === undefined || !/^[0-9a-z][0-9a-z-]{0,63}$/i.test(tenant)) return undefined;
  if (token.tid !== undefined && token.tid !== tenant) return undefined;
  return token.iss;
}

/** The text in place of the placeholder: one segment of the path. */
function tenantIn(template: string, issuer: string): string | undefined {
  const at = template.indexOf(placeholder);
  if (at === -1) return undefined;
  const [start, end] = [template.slice(0, at), template.slice(at + placeholder.length)];
  if (!issuer.startsWith(start) || !issuer.endsWith(end) || issuer.length < start.length + end.length) return undefined;
  const tenant = issuer.slice(start.length, issuer.length - end.length);
  return tenant === '' || /[/?#]/.test(tenant) ? undefined : tenant;
}
