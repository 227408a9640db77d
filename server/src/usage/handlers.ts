import { limits } from '@homeport/contracts/limits';
import type { UsageReport, usageEndpoints } from '@homeport/contracts/usage';
import { attachment } from '../http/content-disposition.ts';
import { Content, type Handler, sourceOf } from '../http/handler.ts';
import type { Platform } from '../platform.ts';
import { previewBudgets } from './budget-preview.ts';
import { listBudgets, ownBudgets, replaceBudgets } from './budgets.ts';
import { usageCsv } from './csv.ts';
import { readUsage, spanOf } from './reports.ts';

type UsageHandler<Name extends keyof typeof usageEndpoints> = Handler<
  Pick<Platform, 'db' | 'clock'>,
  (typeof usageEndpoints)[Name]
>;

/** GET /api/me/usage */
export const getMyUsage: UsageHandler<'getMyUsage'> = async (deps, { actor, query }) => {
  const span = spanOf(deps, query);
  if (query.format === 'csv') return csvFile(await readUsage(deps, actor.id, span, limits.usageCsvRowsMax));
  const [usage, budgets] = await Promise.all([
    readUsage(deps, actor.id, span, limits.usageRowsMax),
    ownBudgets(deps.db.kysely, actor.id),
  ]);
  return { usage, budgets };
};

/** GET /api/admin/usage */
export const getAdminUsage: UsageHandler<'getAdminUsage'> = async (deps, { query }) => {
  const span = spanOf(deps, query);
  if (query.format === 'csv') return csvFile(await readUsage(deps, undefined, span, limits.usageCsvRowsMax));
  return { usage: await readUsage(deps, undefined, span, limits.usageRowsMax) };
};

/** GET /api/admin/budgets */
export const getBudgets: UsageHandler<'getBudgets'> = async (deps) => ({ budgets: await listBudgets(deps.db.kysely) });

/** PUT /api/admin/budgets */
export const putBudgets: UsageHandler<'putBudgets'> = async (deps, input) => ({
  budgets: await replaceBudgets(deps, input.body.budgets, sourceOf(input)),
});

/** POST /api/admin/budgets/preview */
export const postBudgetsPreview: UsageHandler<'postBudgetsPreview'> = async (deps, { actor, body }) => ({
  preview: await previewBudgets(deps.db.kysely, body.budgets, actor.id),
});

async function csvFile(report: UsageReport): Promise<Content> {
  return new Content(await usageCsv(report), {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': attachment(`usage-by-${report.by}-${report.from}-${report.to}.csv`),
    'content-security-policy': "default-src 'none'; sandbox",
  });
}
