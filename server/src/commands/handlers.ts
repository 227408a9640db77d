import type { operationEndpoints } from '@homeport/contracts/operations';
import { listBackups } from '../backups/backup-rows.ts';
import { usualPlace } from '../backups/page-backups.ts';
import type { Deps } from '../deps.ts';
import { type Handler, sourceOf } from '../http/handler.ts';
import { readOperation } from '../settings/operation.ts';
import { examine } from './doctor.ts';

type OperationsDeps = Pick<Deps, 'config' | 'db' | 'artifactStore' | 'backups'>;
type OperationsHandler<Name extends keyof typeof operationEndpoints> = Handler<
  OperationsDeps,
  (typeof operationEndpoints)[Name]
>;

/** GET /api/admin/backups */
export const getBackups: OperationsHandler<'getBackups'> = async ({ config, db }) => {
  const [backups, operation] = await Promise.all([listBackups(db), readOperation({ config, db })]);
  return {
    backups,
    schedule: operation.backupSchedule,
    place: usualPlace(config),
    keep: operation.backupKeep,
    encrypted: config.backupPassphrase !== undefined,
  };
};

/** POST /api/admin/backups */
export const postBackup: OperationsHandler<'postBackup'> = async (deps, input) => ({
  backup: await deps.backups.begin(input.body.withWorkspaces === true, sourceOf(input)),
});

/** GET /api/admin/doctor */
export const getDoctor: OperationsHandler<'getDoctor'> = async (deps) => ({ checks: await examineOnce(deps) });

let examining: ReturnType<typeof examine> | undefined;

/** Shares one examination among concurrent requests, since it starts a sandbox and calls the proxy. */
function examineOnce(deps: OperationsDeps): ReturnType<typeof examine> {
  examining ??= examine(deps).finally(() => {
    examining = undefined;
  });
  return examining;
}
