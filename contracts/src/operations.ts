import { z } from 'zod';
import { outage } from './catalogue/catalogue.ts';
import { check } from './checks.ts';
import { endpoint } from './endpoint.ts';
import * as fields from './fields.ts';

/** Overview, backups and health checks, for administrators. */

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

const count = z.number().int().min(0);

const overview = z.object({
  version: z.string(),
  /** The origin with this machine's address in its network, if the installation's opens only on the machine itself. */
  networkOrigin: z.string().nullable(),
  isMaintained: z.boolean(),
  /** The disk of the data directory, in bytes; null if it cannot be read. */
  disk: z.object({ free: count, total: count }).nullable(),
  backups: z.object({
    /** The newest one that is complete, and the newest one that has ended. */
    lastDone: backup.nullable(),
    lastEnded: backup.nullable(),
    isRunning: z.boolean(),
    /** Null without a schedule. */
    nextAt: fields.timestamp.nullable(),
  }),
  people: z.object({
    total: count,
    /** With a session that was used in the last 30 days. */
    active: count,
    disabled: count,
    /** Enabled accounts without an enabled model of their own or shared with them. */
    withoutModel: count,
    /** Invitations that wait. */
    invited: count,
  }),
  /** The calendar month in UTC; costs are in millionths of a US dollar. */
  usage: z.object({ month: z.iso.date(), cost: count, tokens: count, lastMonthCost: count }),
  /** Budgets for everyone together. */
  budgets: z.array(
    z.object({
      unit: z.enum(['tokens', 'cost']),
      period: z.enum(['day', 'month']),
      limit: count,
      spent: count,
      resetsAt: fields.timestamp,
    }),
  ),
  /** Providers that this replica stopped asking because calls fail, at most 20. */
  outages: z.array(
    z.object({
      providerId: fields.id,
      name: z.string(),
      /** Null in the managed edition. */
      owner: z.object({ id: fields.id, name: z.string() }).nullable(),
      outage,
    }),
  ),
});
export type Overview = z.infer<typeof overview>;

export const operationEndpoints = {
  getOverview: endpoint({
    method: 'GET',
    path: '/api/admin/overview',
    access: 'admin',
    scope: 'admin:read',
    summary: 'Version, disk, backups, people, cost of the month and failing providers at a glance',
    response: z.object({ overview }),
  }),
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
