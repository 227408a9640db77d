import { oidcConfiguration, type oidcPatch } from '@homeport/contracts/accounts/single-sign-on';
import type { AdminConfig, brandingPatch, TokenPolicy } from '@homeport/contracts/admin';
import type { TurnBudget } from '@homeport/contracts/chat/turn-budget';
import { defaultTurnBudget } from '@homeport/contracts/chat/turn-budget-default';
import { defaultBranding } from '@homeport/contracts/default-branding';
import type { PeopleSearch } from '@homeport/contracts/projects';
import type { SharingPolicy } from '@homeport/contracts/sharing';
import { type Branding, branding as brandingSchema } from '@homeport/contracts/system';
import { type Selectable, sql } from 'kysely';
import type { z } from 'zod';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import type { SettingsTable } from '../db/tables/people.ts';
import type { Clock } from '../platform/clock.ts';
import { isBound, type KeyRing } from '../secrets/key-ring.ts';
import { type Resealed, readable } from '../secrets/reseal.ts';
import { assertImages } from './branding.ts';
import { defaultInstructions } from './default-instructions.ts';
import {
  assertComplete,
  defaultOidc,
  keepClientSecret,
  type OidcSettings,
  oidcView,
  openClientSecret,
  resealClientSecret,
  sealClientSecret,
} from './oidc.ts';

/** The only writer of `settings`. Nothing is cached: a change takes effect with the next request, on every replica. */

/** `oidcRevision` changes each time the OIDC configuration is saved or tested successfully. */
export type Settings = {
  branding: Branding;
  oidc: OidcSettings;
  oidcRevision: number;
  instructions: string | null;
  turnBudget: TurnBudget;
  tokens: TokenPolicy;
  tokenMaxDays: number | null;
  sharing: SharingPolicy;
  peopleSearch: PeopleSearch;
};
/** Settings that `POST /api/admin/config` and the manifest can change; an omitted member keeps its value. */
export type SettingsPatch = {
  branding?: z.output<typeof brandingPatch>;
  oidc?: z.output<typeof oidcPatch>;
  instructions?: string | null;
  turnBudget?: { [Name in keyof TurnBudget]?: TurnBudget[Name] } | undefined;
  tokens?: TokenPolicy;
  tokenMaxDays?: number | null;
  sharing?: SharingPolicy;
  peopleSearch?: PeopleSearch;
};

type SettingsDeps = { db: Pick<Database, 'kysely'>; secrets: KeyRing; clock: Clock };
const columns = [
  'branding',
  'oidc',
  'oidc_client_secret',
  'oidc_revision',
  'instructions',
  'turn_budget',
  'tokens',
  'token_max_days',
  'sharing',
  'people_search',
] as const;
type SettingsRow = Pick<Selectable<SettingsTable>, (typeof columns)[number]>;
const storedBranding = brandingSchema.partial();
const storedOidc = oidcConfiguration
  .omit({ hasClientSecret: true, credentialsError: true, credentialsOrigin: true })
  .partial();

/** The current settings, with defaults filled in. */
export async function readSettings(db: Queryable): Promise<Settings> {
  return toSettings(await db.selectFrom('settings').select(columns).executeTakeFirstOrThrow());
}

/** A stored row with its defaults. */
export function toSettings(row: SettingsRow): Settings {
  return {
    branding: { ...defaultBranding, ...storedBranding.parse(row.branding) },
    oidc: { ...defaultOidc, ...storedOidc.parse(row.oidc), clientSecret: row.oidc_client_secret },
    oidcRevision: row.oidc_revision,
    instructions: row.instructions,
    turnBudget: { ...defaultTurnBudget, ...row.turn_budget },
    tokens: row.tokens,
    tokenMaxDays: row.token_max_days,
    sharing: row.sharing,
    peopleSearch: row.people_search,
  };
}

/** Branding and OIDC configuration for administrators. */
export async function getAdminConfig(deps: Pick<SettingsDeps, 'db' | 'secrets'>): Promise<AdminConfig> {
  return toAdminConfig(deps, await readSettings(deps.db.kysely));
}

/** Changes the given members. Throws `invalid_request`. */
export async function updateAdminConfig(
  deps: SettingsDeps,
  source: AuditSource,
  patch: SettingsPatch,
): Promise<AdminConfig> {
  return inTransaction(deps.db, async (transaction) => {
    const { settings } = await updateSettings(deps, transaction, source, patch);
    // Even if nothing changes: saving again should ask the provider again.
    if (patch.oidc !== undefined) await forgetProvider(transaction);
    return toAdminConfig(deps, settings);
  });
}

/**
 * The same inside the caller's transaction (the manifest). `changed` names the members with a new value
 * (`branding.tagline`); if there are none, nothing is written or recorded. Throws `invalid_request`.
 */
export async function updateSettings(
  deps: Pick<SettingsDeps, 'secrets' | 'clock'>,
  transaction: Queryable,
  source: AuditSource,
  patch: SettingsPatch,
): Promise<{ settings: Settings; changed: string[] }> {
  assertImages(patch.branding ?? {});
  const row = await transaction.selectFrom('settings').select(columns).forUpdate().executeTakeFirstOrThrow();
  const before = toSettings(row);
  const after = merge(deps, before, patch);
  assertComplete(after.oidc);
  const changed = [
    ...differences('branding', before.branding, after.branding),
    ...differences('oidc', before.oidc, after.oidc),
    ...plainMembers.filter((name) => before[name] !== after[name]),
    ...differences('turnBudget', before.turnBudget, after.turnBudget),
  ];
  if (changed.length === 0) return { settings: before, changed };
  if (changed.some((path) => path.startsWith('oidc.'))) await forgetProvider(transaction);
  const { clientSecret, ...oidc } = after.oidc;
  await transaction
    .updateTable('settings')
    .set({
      branding: JSON.stringify(withoutDefaults(after.branding, defaultBranding)),
      oidc: JSON.stringify(withoutDefaults(oidc, defaultOidc)),
      oidc_client_secret: clientSecret,
      instructions: after.instructions,
      turn_budget: JSON.stringify(withoutDefaults(after.turnBudget, defaultTurnBudget)),
      tokens: after.tokens,
      token_max_days: after.tokenMaxDays,
      sharing: after.sharing,
      people_search: after.peopleSearch,
      updated_at: new Date(deps.clock.now()),
    })
    .execute();
  await recordEvent(transaction, source, { action: 'settings.updated', details: { changed } });
  return { settings: after, changed };
}

/** Makes every replica ask the identity provider again instead of using its cache. */
export async function forgetProvider(db: Queryable): Promise<void> {
  await db.updateTable('settings').set({ oidc_revision: sql`oidc_revision + 1` }).execute();
}

/** Seals the client secret with the current key and for its provider; one entered in the meantime stays. */
export async function resealSettings(
  deps: Pick<SettingsDeps, 'db' | 'secrets'>,
  { unboundOnly = false } = {},
): Promise<Resealed['state']> {
  return inTransaction(deps.db, async (transaction) => {
    const row = await transaction.selectFrom('settings').select(columns).forUpdate().executeTakeFirstOrThrow();
    if (unboundOnly && (row.oidc_client_secret === null || isBound(row.oidc_client_secret))) return 'current';
    const { state, envelope } = resealClientSecret(deps, toSettings(row).oidc);
    if (state === 'resealed') {
      await transaction.updateTable('settings').set({ oidc_client_secret: envelope }).execute();
    }
    return state;
  });
}

/** The stored OIDC configuration with some members replaced, for a test before saving. */
export function patchOidc(
  deps: Pick<SettingsDeps, 'secrets'>,
  oidc: OidcSettings,
  patch: SettingsPatch['oidc'],
): OidcSettings {
  const { clientSecret, allowedDomains, ...given } = patch ?? {};
  const next = {
    ...oidc,
    ...withoutUndefined(given),
    ...(allowedDomains === undefined ? {} : { allowedDomains: [...new Set(allowedDomains)] }),
  };
  return { ...next, clientSecret: nextSecret(deps, oidc, next, clientSecret) };
}

/**
 * Entering the same secret keeps its envelope, so that nothing changes; a secret that is kept belongs to its former
 * address.
 */
function nextSecret(
  deps: Pick<SettingsDeps, 'secrets'>,
  before: OidcSettings,
  after: OidcSettings,
  given: string | null | undefined,
): string | null {
  const isMoved = before.issuer !== after.issuer || before.discoveryUrl !== after.discoveryUrl;
  if (given === undefined) return isMoved ? keepClientSecret(deps, before, after) : before.clientSecret;
  const stored = { ...after, clientSecret: before.clientSecret };
  if (given !== null && readable(() => openClientSecret(deps, stored)) === given) return before.clientSecret;
  return sealClientSecret(deps, after, given);
}

function merge(deps: Pick<SettingsDeps, 'secrets'>, before: Settings, patch: SettingsPatch): Settings {
  return {
    ...before,
    branding: { ...before.branding, ...withoutUndefined(patch.branding ?? {}) },
    oidc: patchOidc(deps, before.oidc, patch.oidc),
    ...plainPatch(patch),
    turnBudget: { ...before.turnBudget, ...withoutUndefined(patch.turnBudget ?? {}) },
  };
}

/** Members that are one value each. */
const plainMembers = ['instructions', 'tokens', 'tokenMaxDays', 'sharing', 'peopleSearch'] as const;

function plainPatch(patch: SettingsPatch) {
  const { instructions, tokens, tokenMaxDays, sharing, peopleSearch } = patch;
  return withoutUndefined({ instructions, tokens, tokenMaxDays, sharing, peopleSearch });
}

function differences(group: string, before: object, after: object): string[] {
  const names = Object.keys(after).filter(
    (name) => JSON.stringify(Reflect.get(before, name)) !== JSON.stringify(Reflect.get(after, name)),
  );
  return names.map((name) => `${group}.${name}`);
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function withoutUndefined<T extends object>(value: T): Defined<T> {
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}

/** Only what administrators have set is stored, so that new defaults still apply to the rest. */
function withoutDefaults(value: object, defaults: object): object {
  const changed = differences('', defaults, value).map((name) => name.slice(1));
  return Object.fromEntries(changed.map((name) => [name, Reflect.get(value, name)]));
}

function toAdminConfig(deps: Pick<SettingsDeps, 'secrets'>, settings: Settings): AdminConfig {
  const { oidc: _, oidcRevision: __, ...plain } = settings;
  const oidc = oidcView(deps, settings.oidc);
  return { ...plain, oidc, defaultInstructions };
}
