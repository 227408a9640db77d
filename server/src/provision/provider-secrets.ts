import { secretPlaceholder } from '@homeport/contracts/provision/manifest';
import { findApiKey, findHeaders, type ProviderPlace, sealApiKey, sealHeaders } from '../catalogue/credentials.ts';
import type { KeyRing } from '../secrets/key-ring.ts';

/**
 * Credentials of a provider in the manifest against the stored envelopes. An omitted value or a placeholder keeps the
 * stored one, for its origin; an equal value keeps its envelope; an envelope that no key opens counts as a different
 * value.
 */

type Deps = { secrets: KeyRing };
export type SecretPlan = {
  envelope: string | null;
  changes: string[];
  warnings: { name: string; message: string }[];
};

const nothingStored = 'this is a placeholder and no secret is stored: it stays empty until someone enters one';
const staysWith = (origin: string): string =>
  `the stored secret belongs to ${origin} and is sent nowhere else: enter it again for the new address`;

/** `provider` is the record after the manifest: given values are for its address. */
export function planApiKey(
  deps: Deps,
  provider: ProviderPlace,
  stored: string | null,
  given: string | null | undefined,
): SecretPlan {
  const found = findApiKey(deps, provider, stored);
  if (given === undefined || given === secretPlaceholder) {
    const missing = given !== undefined && stored === null ? [nothingStored] : [];
    const moved = found?.isForAddress === false ? [staysWith(found.origin)] : [];
    const warnings = [...missing, ...moved].map((message) => ({ name: 'apiKey', message }));
    return { envelope: stored, changes: [], warnings };
  }
  if (given === null) {
    return { envelope: null, changes: stored === null ? [] : ['API key removed'], warnings: [] };
  }
  if (found?.isForAddress && found.value === given) return { envelope: stored, changes: [], warnings: [] };
  const change = stored === null ? 'API key set' : 'API key changed';
  return { envelope: sealApiKey(deps, provider, given), changes: [change], warnings: [] };
}

export function planHeaders(
  deps: Deps,
  provider: ProviderPlace,
  stored: string | null,
  given: Readonly<Record<string, string>> | undefined,
): SecretPlan {
  const found = findHeaders(deps, provider, stored);
  const belongsElsewhere = found?.isForAddress === false;
  const keeps = given === undefined || (belongsElsewhere && namesOnly(given, found.value));
  if (keeps) {
    const warnings = belongsElsewhere ? [{ name: 'headers', message: staysWith(found.origin) }] : [];
    return { envelope: stored, changes: [], warnings };
  }
  const after: Record<string, string> = {};
  const warnings: SecretPlan['warnings'] = [];
  for (const [name, value] of Object.entries(given)) {
    const before = found !== undefined && Object.hasOwn(found.value, name) ? found.value[name] : undefined;
    const kept = value !== secretPlaceholder ? value : belongsElsewhere ? undefined : before;
    if (kept !== undefined) after[name] = kept;
    else if (belongsElsewhere && before !== undefined) {
      warnings.push({ name: `headers.${name}`, message: `left out: ${staysWith(found.origin)}` });
    } else warnings.push({ name: `headers.${name}`, message: nothingStored });
  }
  if (found?.isForAddress && canonical(found.value) === canonical(after)) {
    return { envelope: stored, changes: [], warnings };
  }
  const names = Object.keys(after).join(', ');
  return {
    envelope: sealHeaders(deps, provider, after),
    changes: [names === '' ? 'headers removed' : `headers changed (${names})`],
    warnings,
  };
}

/** True if a manifest names the stored headers without values, as an export does. */
function namesOnly(given: Readonly<Record<string, string>>, stored: Readonly<Record<string, string>>): boolean {
  const isSame = Object.keys(given).sort().join() === Object.keys(stored).sort().join();
  return isSame && Object.values(given).every((value) => value === secretPlaceholder);
}

function canonical(headers: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1)));
}
