import { ApiError } from '@homeport/contracts/errors';
import { secretPlaceholder } from '@homeport/contracts/manifest';
import { resolveCredentials, sealApiKey, sealHeaders } from '../catalogue/credentials.ts';
import type { KeyRing } from '../secrets/key-ring.ts';

/**
 * Credentials of a provider in the manifest against the stored envelopes. What is omitted or a placeholder keeps what is stored;
 * what is the same keeps its envelope; an envelope that no key opens counts as another value.
 */

type Deps = { secrets: KeyRing };
export type SecretPlan = {
  envelope: string | null;
  changes: string[];
  warnings: { name: string; message: string }[];
};

const nothingStored = 'a placeholder and nothing is stored: it stays empty until the secret is entered';

export function planApiKey(
  deps: Deps,
  providerId: string,
  stored: string | null,
  given: string | null | undefined,
): SecretPlan {
  const kept: SecretPlan = { envelope: stored, changes: [], warnings: [] };
  if (given === undefined) return kept;
  if (given === secretPlaceholder) {
    return stored === null ? { ...kept, warnings: [{ name: 'apiKey', message: nothingStored }] } : kept;
  }
  if (given === null) return stored === null ? kept : { envelope: null, changes: ['API key removed'], warnings: [] };
  if (stored !== null && openApiKey(deps, providerId, stored) === given) return kept;
  const change = stored === null ? 'API key set' : 'API key changed';
  return { envelope: sealApiKey(deps, providerId, given), changes: [change], warnings: [] };
}

export function planHeaders(
  deps: Deps,
  providerId: string,
  stored: string | null,
  given: Readonly<Record<string, string>> | undefined,
): SecretPlan {
  if (given === undefined) return { envelope: stored, changes: [], warnings: [] };
  const before = stored === null ? {} : openHeaders(deps, providerId, stored);
  const after: Record<string, string> = {};
  const warnings: SecretPlan['warnings'] = [];
  for (const [name, value] of Object.entries(given)) {
    const kept = value === secretPlaceholder ? before?.[name] : value;
    if (kept === undefined) warnings.push({ name: `headers.${name}`, message: nothingStored });
    else after[name] = kept;
  }
  if (before !== undefined && canonical(before) === canonical(after)) {
    return { envelope: stored, changes: [], warnings };
  }
  const names = Object.keys(after).join(', ');
  return {
    envelope: sealHeaders(deps, providerId, after),
    changes: [names === '' ? 'headers removed' : `headers changed (${names})`],
    warnings,
  };
}

function canonical(headers: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function openApiKey(deps: Deps, id: string, envelope: string): string | undefined {
  return readable(() => resolveCredentials(deps, { id, base_url: '', api_key: envelope, headers: null }).apiKey);
}

function openHeaders(deps: Deps, id: string, envelope: string): Record<string, string> | undefined {
  return readable(() => resolveCredentials(deps, { id, base_url: '', api_key: null, headers: envelope }).headers);
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ApiError && error.code === 'credentials_unreadable') return undefined;
    throw error;
  }
}
