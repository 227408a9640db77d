import type { Provider, SharedWith } from '@homeport/contracts/catalogue/catalogue';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { limits } from '@homeport/contracts/limits';
import type { CallOptions } from '../api/api.ts';
import { apiKeyFault, baseUrlFault, textFault } from '../forms/rules.ts';
import type { Translate } from '../i18n/i18n.ts';
import { hostedPreset } from './provider-presets.ts';
import type { ProviderTestBody } from './use-provider-test.ts';

/** The values of the provider form. `apiKey` is always a new one: a stored key never reaches the browser. */
export type ProviderValues = {
  name: string;
  kind: ProviderKind;
  baseUrl: string;
  apiKey: string;
  clearsKey: boolean;
  headers: HeaderRow[];
  /** As typed; empty: the default. */
  firstByteSeconds: string;
  sharedWith: SharedWith;
  region: string;
  /** Names separated by commas. */
  onlyRegions: string;
};
export type HeaderRow = { key: string; name: string; value: string };

export function providerValues(provider: Provider | undefined): ProviderValues {
  const headers = Object.entries(provider?.headers ?? {});
  return {
    name: provider?.name ?? '',
    kind: provider?.kind ?? 'openai',
    baseUrl: provider?.baseUrl ?? '',
    apiKey: '',
    clearsKey: false,
    headers: headers.map(([name, value], index) => ({ key: `stored-${index}`, name, value })),
    firstByteSeconds: provider?.firstByteSeconds?.toString() ?? '',
    sharedWith: provider?.sharedWith ?? 'none',
    region: provider?.region ?? '',
    onlyRegions: (provider?.onlyRegions ?? []).join(', '),
  };
}

/** Faults by field. `hasStoredKey`: the provider has a key already. */
export function providerFaults(
  values: ProviderValues,
  t: Translate,
  hasStoredKey = false,
): Record<string, string | null> {
  return {
    name: textFault(values.name, limits.providerNameMax, t),
    baseUrl: baseUrlFault(values.baseUrl, t),
    apiKey: keyFault(values, hasStoredKey, t),
    firstByteSeconds: firstByteFault(values.firstByteSeconds, t),
    region: values.region.trim().length > limits.regionMax ? t('form.tooLong', { max: limits.regionMax }) : null,
    onlyRegions: regionsOf(values.onlyRegions).some((region) => region.length > limits.regionMax)
      ? t('form.tooLong', { max: limits.regionMax })
      : null,
    ...headerFaults(values.headers, t),
  };
}

/** A known provider on the internet needs a key, unless a custom header carries it. */
function keyFault(values: ProviderValues, hasStoredKey: boolean, t: Translate): string | null {
  const { apiKey, clearsKey, baseUrl, headers } = values;
  const hosted = hostedPreset(baseUrl);
  const isMissing = apiKey.trim() === '' && (clearsKey || !hasStoredKey) && headers.every(isBlank);
  return hosted && isMissing ? t('provider.apiKeyNeeded', { name: hosted.name }) : apiKeyFault(apiKey, t);
}

function firstByteFault(typed: string, t: Translate): string | null {
  const [min, max] = [limits.firstByteSecondsMin, limits.firstByteSecondsMax];
  const seconds = secondsOf(typed);
  const isFine = seconds === null || (Number.isInteger(seconds) && seconds >= min && seconds <= max);
  return isFine ? null : t('provider.firstByteFault', { min, max });
}

function regionsOf(typed: string): string[] {
  return [...new Set(typed.split(',').map((region) => region.trim()))].filter((region) => region !== '');
}

function secondsOf(typed: string): number | null {
  return typed.trim() === '' ? null : Number(typed.trim());
}

/** Faults of header rows by field path. */
export function headerFaults(rows: readonly HeaderRow[], t: Translate): Record<string, string | null> {
  const names = rows.map((row) => row.name.trim().toLowerCase());
  const faults: Record<string, string | null> = {};
  rows.forEach((row, index) => {
    if (isBlank(row)) return;
    const name = names[index] ?? '';
    const isName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) && name.length <= limits.headerNameMax;
    const isTwice = names.indexOf(name) !== index;
    faults[`headers.${index}.name`] = isName
      ? isTwice
        ? t('provider.headerTwice')
        : null
      : t('provider.headerBadName');
    faults[`headers.${index}.value`] =
      row.value.length > limits.headerValueMax ? t('form.tooLong', { max: limits.headerValueMax }) : null;
  });
  return faults;
}

/** The body of POST and PATCH: untouched fields are left out, so that they keep their stored value. */
export function providerBody(
  values: ProviderValues,
  isDirty: (field: 'kind' | 'headers' | 'firstByteSeconds' | 'sharedWith' | 'region' | 'onlyRegions') => boolean,
): CallOptions<'POST /api/providers'>['body'] {
  const apiKey = values.clearsKey ? null : values.apiKey.trim() || undefined;
  return {
    name: values.name.trim(),
    ...(isDirty('kind') ? { kind: values.kind } : {}),
    baseUrl: values.baseUrl.trim(),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(isDirty('headers') ? { headers: headerRecord(values.headers) } : {}),
    ...(isDirty('firstByteSeconds') ? { firstByteSeconds: secondsOf(values.firstByteSeconds) } : {}),
    ...(isDirty('region') ? { region: values.region.trim() || null } : {}),
    ...(isDirty('onlyRegions') ? { onlyRegions: regionsOf(values.onlyRegions) } : {}),
    ...(isDirty('sharedWith') ? { sharedWith: values.sharedWith } : {}),
  };
}

/**
 * The origin that stored credentials stay with if the address becomes `address`; undefined if they can be sent there.
 */
export function originLeft(
  stored: { address: string; credentialsOrigin?: string } | undefined,
  address: string,
): string | undefined {
  const origin = stored && (stored.credentialsOrigin ?? URL.parse(stored.address)?.origin);
  const next = URL.parse(address.trim())?.origin;
  return origin === undefined || next === undefined || next === origin ? undefined : origin;
}

/** Marks unchanged rows so that the next save sends them again. */
export function withRenewedKeys(rows: readonly HeaderRow[]): HeaderRow[] {
  return rows.map((row) => ({ ...row, key: `${row.key}-renewed` }));
}

/** Request body of a test; undefined if it needed stored credentials for a different origin. */
export function providerTestBody(
  values: ProviderValues,
  provider: Provider | undefined,
  isDirty: (field: 'kind' | 'baseUrl' | 'headers') => boolean,
): ProviderTestBody | undefined {
  const keepsKey = provider?.hasApiKey === true && !values.clearsKey && values.apiKey.trim() === '';
  const isMoved = isDirty('kind') || isDirty('baseUrl') || isDirty('headers');
  const isChanged = isMoved || values.clearsKey || values.apiKey.trim() !== '';
  if (provider && !isChanged) return { id: provider.id };
  const stored = provider && { ...provider, address: provider.baseUrl };
  const keepsHeaders = Object.keys(provider?.headers ?? {}).length > 0 && !isDirty('headers');
  if (keepsKey || (keepsHeaders && originLeft(stored, values.baseUrl) !== undefined)) return undefined;
  const apiKey = values.apiKey.trim();
  return {
    kind: values.kind,
    baseUrl: values.baseUrl.trim(),
    ...(apiKey === '' ? {} : { apiKey }),
    headers: headerRecord(values.headers),
  };
}

/** The field of a request's fault: `headers.<name>` belongs to that header's row. */
export function providerField(path: string, values: Pick<ProviderValues, 'headers'>): string | undefined {
  const header = /^headers\.(.+)$/.exec(path)?.[1];
  if (header === undefined) return path;
  const index = values.headers.findIndex((row) => row.name.trim().toLowerCase() === header.toLowerCase());
  return index < 0 ? undefined : `headers.${index}.name`;
}

/** The rows as the request body needs them, without empty ones. */
export function headerRecord(rows: readonly HeaderRow[]): Record<string, string> {
  return Object.fromEntries(rows.filter((row) => !isBlank(row)).map((row) => [row.name.trim(), row.value]));
}

function isBlank(row: HeaderRow): boolean {
  return row.name.trim() === '' && row.value === '';
}
