import { type ManifestHead, secretPlaceholder } from '@homeport/contracts/provision/manifest';
import type { Transaction } from 'kysely';
import type { AuditSource } from '../audit/audit.ts';
import type { Tables } from '../db/tables/tables.ts';
import type { Platform } from '../platform.ts';
import { readSettings, type SettingsPatch, updateSettings } from '../settings/settings.ts';
import type { Report } from './report.ts';

/**
 * The manifest's branding, OIDC and instructions, by the verb of POST /api/admin/config: an omitted member keeps its
 * value.
 */
export async function applySettings(
  deps: Pick<Platform, 'secrets' | 'clock'>,
  transaction: Transaction<Tables>,
  { branding, oidc, instructions, turnBudget }: ManifestHead,
  { report, source }: { report: Report; source: AuditSource },
): Promise<void> {
  if ([branding, oidc, instructions, turnBudget].every((member) => member === undefined)) return;
  const patch: SettingsPatch = { branding, oidc: withoutPlaceholder(oidc), instructions, turnBudget };
  const { clientSecret } = (await readSettings(transaction)).oidc;
  if (oidc?.clientSecret === secretPlaceholder && clientSecret === null) {
    report.warn(
      'oidc.clientSecret',
      'this is a placeholder and no secret is stored: it stays empty until someone enters one',
    );
  }
  const { changed } = await updateSettings(deps, transaction, source, patch);
  for (const path of changed) report.change(path, 'update', `${path} changed`);
}

function withoutPlaceholder(oidc: ManifestHead['oidc']): SettingsPatch['oidc'] {
  if (oidc?.clientSecret !== secretPlaceholder) return oidc;
  const { clientSecret: _, ...rest } = oidc;
  return rest;
}
