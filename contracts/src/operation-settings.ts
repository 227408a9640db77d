import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { limits } from './limits.ts';

/** Settings of the operation: a variable of the environment, else what administrators set in the page, else a default. */

const source = z.enum(['environment', 'page', 'default']);

function setting<Value extends z.ZodType>(value: Value) {
  return z.object({
    value,
    source,
    /** The environment variable that wins when it is set. */
    variable: z.string(),
    default: value,
  });
}

const fields = {
  /** `hourly`, `daily 03:00`, `weekly sunday 03:00`, in UTC; null: none. */
  backupSchedule: z.string().min(1).max(limits.backupScheduleMax).nullable(),
  backupKeep: z.number().int().min(1).max(limits.backupKeepMax),
  backupWorkspaces: z.boolean(),
  auditDays: z.number().int().min(limits.auditDaysMin).max(limits.auditDaysMax),
  artifactMaxUploadBytes: z.number().int().min(1).max(limits.uploadBytesMax),
  /** 0: no limit. */
  artifactQuotaMb: z.number().int().min(0).max(limits.artifactQuotaMbMax),
};

const settings = z.object({
  backupSchedule: setting(fields.backupSchedule),
  backupKeep: setting(fields.backupKeep),
  backupWorkspaces: setting(fields.backupWorkspaces),
  auditDays: setting(fields.auditDays),
  artifactMaxUploadBytes: setting(fields.artifactMaxUploadBytes),
  artifactQuotaMb: setting(fields.artifactQuotaMb),
  /** False for a database elsewhere without `BACKUP_TO`: no folder of a replica lasts. */
  hasBackupPlace: z.boolean(),
});
export type OperationSettings = z.infer<typeof settings>;

/** An omitted member keeps its value; null returns to the default. */
const settingsPatch = z.object({
  backupSchedule: fields.backupSchedule.optional(),
  backupKeep: fields.backupKeep.nullable().optional(),
  backupWorkspaces: fields.backupWorkspaces.nullable().optional(),
  auditDays: fields.auditDays.nullable().optional(),
  artifactMaxUploadBytes: fields.artifactMaxUploadBytes.nullable().optional(),
  artifactQuotaMb: fields.artifactQuotaMb.nullable().optional(),
});
export type OperationSettingsPatch = z.output<typeof settingsPatch>;

export const operationSettingsEndpoints = {
  getOperationSettings: endpoint({
    method: 'GET',
    path: '/api/admin/settings',
    access: 'admin',
    scope: 'admin:read',
    summary: 'Schedule of backups, retention and limits, each with where its value comes from',
    response: z.object({ settings }),
  }),
  patchOperationSettings: endpoint({
    method: 'PATCH',
    path: '/api/admin/settings',
    access: 'admin',
    summary:
      'Changes them on every replica, without a restart; one that the environment sets is refused as `invalid_request`',
    body: settingsPatch,
    response: z.object({ settings }),
  }),
} as const;
