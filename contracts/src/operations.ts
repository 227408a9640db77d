import { z } from 'zod';
import { check } from './checks.ts';
import { endpoint } from './endpoint.ts';
import * as fields from './fields.ts';

/** Backups and health checks, for administrators. */

const backup = z.object({
  id: fields.id,
  cause: z.enum(['command', 'schedule', 'page']),
  /** `lost`: the process that made it is gone before it was complete. */
  state: z.enum(['running', 'done', 'failed', 'lost']),
  place: z.string(),
  progress: z.object({ step: z.string(), rows: z.number(), files: z.number(), bytes: z.number() }).partial(),
  error: z.string().nullable(),
  size: z.number().int().nullable(),
  sha256: z.string().nullable(),
  startedAt: fields.timestamp,
  finishedAt: fields.timestamp.nullable(),
});
export type Backup = z.infer<typeof backup>;

export const operationEndpoints = {
  getBackups: endpoint({
    method: 'GET',
    path: '/api/admin/backups',
    access: 'admin',
    scope: 'admin:read',
    summary: 'The newest backups of this installation, and when the next ones are made',
    response: z.object({
      backups: z.array(backup),
      schedule: z.string().nullable(),
      place: z.string(),
      keep: z.number().int(),
      encrypted: z.boolean(),
    }),
  }),
  postBackup: endpoint({
    method: 'POST',
    path: '/api/admin/backups',
    access: 'admin',
    scope: 'admin:write',
    summary: 'Begins a backup into the place of scheduled ones; the one that runs, if there is one',
    body: z.object({ withWorkspaces: z.boolean().optional() }),
    status: 202,
    response: z.object({ backup }),
  }),
  getDoctor: endpoint({
    method: 'GET',
    path: '/api/admin/doctor',
    access: 'admin',
    scope: 'admin:read',
    summary: 'Whether the installation is right, and what to do where it is not',
    response: z.object({ checks: z.array(check) }),
  }),
} as const;
