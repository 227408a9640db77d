import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import * as fields from './fields.ts';
import { limits } from './limits.ts';

/** Usage of models and its cost (contract.md section 11, "Operation"). */

const amount = z.number().int().min(0);

/** Sums of calls; which members name the row depends on `by`. Costs are in millionths of a US dollar. */
const usageSums = z.object({
  calls: amount,
  inputTokens: amount,
  cachedInputTokens: amount,
  cacheWriteTokens: amount,
  outputTokens: amount,
  reasoningTokens: amount,
  /** Null: the price of no call is known. */
  cost: amount.nullable(),
  /** Calls whose price is not known; they are not in `cost`. */
  unpricedCalls: amount,
  /** Calls whose cost is an estimate, by the list price of the model's maker. */
  estimatedPriceCalls: amount,
});
export type UsageSums = z.infer<typeof usageSums>;

const usageRow = usageSums.extend({
  day: z.iso.date().optional(),
  /** Null for name and email: the account was deleted. */
  userId: fields.id.optional(),
  name: z.string().nullable().optional(),
  email: z.string().nullable().optional(),
  providerName: z.string().optional(),
  providerModelId: z.string().optional(),
});
export type UsageRow = z.infer<typeof usageRow>;

const usageReport = z.object({
  /** Whole days in UTC, both included. */
  from: z.iso.date(),
  to: z.iso.date(),
  by: z.enum(['person', 'model', 'day']),
  rows: z.array(usageRow),
  /** There are more rows than these, which have the most tokens. */
  isCut: z.boolean(),
  total: usageSums,
});
export type UsageReport = z.infer<typeof usageReport>;

/** A day, or a time on that day in UTC. */
const day = z
  .union([z.iso.date(), fields.anyTime])
  .transform((text) => (text.length === 10 ? text : new Date(text).toISOString().slice(0, 10)))
  .refine((text) => text >= '1970-01-01', { message: 'A day after 1970' });

const usageQuery = z
  .object({
    /** By default the current month. */
    from: day.optional(),
    to: day.optional(),
    by: z.enum(['person', 'model', 'day']).optional(),
    format: z.enum(['json', 'csv']).optional(),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    message: 'Not before from',
    path: ['to'],
  })
  .refine(({ from, to }) => from === undefined || to === undefined || daysBetween(from, to) < limits.usageDaysMax, {
    message: `At most ${limits.usageDaysMax} days`,
    path: ['to'],
  });
export type UsageQuery = z.output<typeof usageQuery>;

/** Both are days, as `YYYY-MM-DD`. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000;
}

const budgetUnit = z.enum(['tokens', 'cost']);
const budgetPeriod = z.enum(['day', 'month']);

/** `each`: for all users without a `person` budget of the same unit and period. Days and months are in UTC. */
const budgetFields = {
  scope: z.enum(['everyone', 'each', 'person']),
  userId: fields.id.nullable().optional(),
  unit: budgetUnit,
  period: budgetPeriod,
  /** Tokens, or millionths of a US dollar; null for one person: no limit. */
  limit: z.number().int().min(0).max(limits.budgetMax).nullable(),
};
/** Whether it also stops administrators, by default yes. The budget of one person always counts for that person. */
const stopsAdministrators = z.boolean();
const newBudget = z
  .object({ ...budgetFields, stopsAdministrators: stopsAdministrators.optional() })
  .refine(({ scope, userId }) => (scope === 'person') === (typeof userId === 'string'), {
    message: 'Needed for the budget of a person, and only there',
    path: ['userId'],
  })
  .refine(({ scope, limit }) => scope === 'person' || limit !== null, {
    message: 'Only the budget of a person can be without a limit',
    path: ['limit'],
  });
export type NewBudget = z.output<typeof newBudget>;

const budget = z.object({
  ...budgetFields,
  userId: fields.id.nullable(),
  stopsAdministrators,
  name: z.string().nullable(),
  email: z.string().nullable(),
  /** In the current period; null for `each`. */
  spent: amount.nullable(),
  resetsAt: fields.timestamp,
});
export type Budget = z.infer<typeof budget>;

/** People whom a list of budgets would stop at once, and whom the present budgets don't stop. */
const budgetPreview = z.object({
  count: amount,
  /** The caller is one of them. */
  isCaller: z.boolean(),
  /** At most 20, the caller first. */
  people: z.array(z.object({ userId: fields.id, name: z.string(), email: z.string(), resetsAt: fields.timestamp })),
});
export type BudgetPreview = z.infer<typeof budgetPreview>;

/** Budget that applies to the caller. A budget for everyone contains only the used share. */
const ownBudget = z.object({
  scope: z.enum(['everyone', 'own']),
  unit: budgetUnit,
  period: budgetPeriod,
  limit: amount.nullable(),
  spent: amount.nullable(),
  /** How much of it is used up, in percent; more than 100 when answers ran at the same time. */
  percent: amount,
  resetsAt: fields.timestamp,
});
export type OwnBudget = z.infer<typeof ownBudget>;

export const usageEndpoints = {
  getMyUsage: endpoint({
    method: 'GET',
    path: '/api/me/usage',
    access: 'session',
    scope: 'usage:read',
    summary: 'Usage of the caller by day (default) or model, and the budgets that apply to them; or as CSV',
    query: usageQuery,
    response: z.object({ usage: usageReport, budgets: z.array(ownBudget) }),
    fileTypes: ['text/csv'],
  }),
  getAdminUsage: endpoint({
    method: 'GET',
    path: '/api/admin/usage',
    access: 'admin',
    scope: 'admin:read',
    summary: 'Usage of all accounts, by person, model or day (default); or as CSV. Sums only, no text',
    query: usageQuery,
    response: z.object({ usage: usageReport }),
    fileTypes: ['text/csv'],
  }),
  getBudgets: endpoint({
    method: 'GET',
    path: '/api/admin/budgets',
    access: 'admin',
    scope: 'admin:read',
    summary: 'All budgets, with what has been used of them',
    response: z.object({ budgets: z.array(budget) }),
  }),
  putBudgets: endpoint({
    method: 'PUT',
    path: '/api/admin/budgets',
    access: 'admin',
    scope: 'admin:write',
    summary: 'Replaces all budgets',
    body: z.object({ budgets: z.array(newBudget).max(limits.budgetCountMax) }),
    response: z.object({ budgets: z.array(budget) }),
    errors: ['not_found'],
  }),
  postBudgetsPreview: endpoint({
    method: 'POST',
    path: '/api/admin/budgets/preview',
    access: 'admin',
    scope: 'admin:write',
    summary: 'Returns whom these budgets would stop at once if they replaced the present ones; changes nothing',
    body: z.object({ budgets: z.array(newBudget).max(limits.budgetCountMax) }),
    response: z.object({ preview: budgetPreview }),
    errors: ['not_found'],
  }),
} as const;
