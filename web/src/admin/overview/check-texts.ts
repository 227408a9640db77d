import type { Check, CheckReason } from '@homeport/contracts/checks';
import type { Translate } from '../../i18n/i18n.ts';
import { formatTime } from '../format.ts';
import { sizeText } from '../sizes.ts';

/** Results of the installation check as people read them. */

const fineReasons = [
  'settings_valid',
  'key_fits',
  'disk_free',
  'permissions_private',
  'files_work',
  'workspaces_off',
  'workspaces_work',
  'clocks_agree',
  'backup_made',
  'database_works',
  'postgresql_system',
  'address_unknown',
  'address_works',
  'websocket_works',
  'streams_work',
  'http2_works',
  'uploads_pass',
  'proxy_named',
] as const satisfies readonly CheckReason[];

/** Reasons that nothing can be done about, because nothing is wrong. */
function isFine(reason: CheckReason): reason is (typeof fineReasons)[number] {
  return (fineReasons as readonly CheckReason[]).includes(reason);
}

/** The finding, and the advice if something is wrong. */
export function checkText({ reason, values }: Check, t: Translate): { text: string; advice?: string } {
  const shown = shownValues(values);
  const text = t(`check.is.${reason}`, shown);
  return isFine(reason) ? { text } : { text, advice: t(`check.do.${reason}`, shown) };
}

const sizes = new Set(['free', 'bytes']);

function shownValues(values: Check['values']): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (name === 'at') return [name, formatTime(String(value))];
      return [name, sizes.has(name) ? sizeText(Number(value)) : value];
    }),
  );
}

export type CheckAction = { kind: 'backup' } | { kind: 'guide'; page: string };

const guides: Partial<Record<CheckReason, string>> = {
  settings_mistyped: 'settings',
  key_wrong: 'operations#wrong-key-or-wrong-store',
  disk_low: 'operations#a-full-disk',
  disk_network: 'operations#the-data-folder',
  files_foreign: 'operations#wrong-key-or-wrong-store',
  permissions_open: 'operations#the-data-folder',
  workspaces_broken: 'workspaces',
  clocks_apart: 'troubleshooting#startup-problems',
  backup_place: 'operations#backup-and-restore',
  database_unusable: 'troubleshooting',
  database_old: 'upgrading',
  database_encoding: 'install',
  database_earlier: 'upgrading',
  database_pool: 'scaling',
  pooler_unnamed: 'operations#pgbouncer',
  pooler_limits: 'operations#pgbouncer',
  postgresql_libraries: 'operations#the-embedded-postgresql',
  unchecked: 'troubleshooting',
};

/** The next step for a finding that isn't fine. */
export function actionOf({ state, reason, check }: Check): CheckAction | undefined {
  if (state === 'ok') return undefined;
  const page = guides[reason];
  if (page !== undefined) return { kind: 'guide', page };
  if (check === 'backups') return { kind: 'backup' };
  return { kind: 'guide', page: 'operations#behind-a-reverse-proxy' };
}
