import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { UsageQuery, UsageReport, UsageRow, UsageSums } from '@homeport/contracts/usage';
import { daysBetween } from '@homeport/contracts/usage';
import type { Platform } from '../platform.ts';

/** Usage reports from daily sums: a year costs as many rows as people, models and days, not as calls. */

type Needs = Pick<Platform, 'db' | 'clock'>;
type By = UsageReport['by'];
type Span = { from: string; to: string; by: By };

const sums = `sum(d.calls)::bigint as calls, sum(d.input_tokens)::bigint as "inputTokens",
  sum(d.cached_input_tokens)::bigint as "cachedInputTokens", sum(d.cache_write_tokens)::bigint as "cacheWriteTokens",
  sum(d.output_tokens)::bigint as "outputTokens", sum(d.reasoning_tokens)::bigint as "reasoningTokens",
  sum(d.cost)::bigint as cost, sum(d.unpriced_calls)::bigint as "unpricedCalls",
  sum(d.estimated_price_calls)::bigint as "estimatedPriceCalls"`;

const groups: Record<By, { columns: string; group: string; order: string }> = {
  day: { columns: `d.day::text as day`, group: 'd.day', order: 'd.day' },
  model: {
    columns: `d.provider_name as "providerName", d.provider_model_id as "providerModelId"`,
    group: 'd.provider_name, d.provider_model_id',
    order: 'sum(d.input_tokens + d.output_tokens) desc, d.provider_name, d.provider_model_id',
  },
  person: {
    columns: `d.owner_id as "userId"`,
    group: 'd.owner_id',
    order: 'sum(d.input_tokens + d.output_tokens) desc, d.owner_id',
  },
};

/** The days of a query: by default the current month until today, in UTC. */
export function spanOf({ clock }: Pick<Platform, 'clock'>, query: UsageQuery): Span {
  const today = new Date(clock.now()).toISOString().slice(0, 10);
  const to = query.to ?? (query.from === undefined || query.from <= today ? today : query.from);
  const from = query.from ?? `${to.slice(0, 7)}-01`;
  if (daysBetween(from, to) >= limits.usageDaysMax) {
    throw new ApiError('invalid_request', `The request is not valid. from: at most ${limits.usageDaysMax} days`, {
      details: [{ path: 'from', message: `At most ${limits.usageDaysMax} days` }],
    });
  }
  return { from, to, by: query.by ?? 'day' };
}

/** One person's usage, or without `ownerId` everybody's, with at most `most` rows. */
export async function readUsage(
  deps: Needs,
  ownerId: string | undefined,
  span: Span,
  most: number,
): Promise<UsageReport> {
  const { columns, group, order } = groups[span.by];
  const where = `d.day between $1 and $2${ownerId === undefined ? '' : ' and d.owner_id = $3'}`;
  const values = [span.from, span.to, ...(ownerId === undefined ? [] : [ownerId])];
  const rows = `select ${columns}, ${sums} from usage_days d where ${where} group by ${group} order by ${order} limit ${most + 1}`;
  const named = `select r.*, u.name, u.email from (${rows}) r left join users u on u.id = r."userId"
    order by r."inputTokens" + r."outputTokens" desc, r."userId"`;
  const [{ rows: found }, { rows: totals }] = await Promise.all([
    deps.db.pool.query<UsageRow>({ text: span.by === 'person' ? named : rows, values }),
    deps.db.pool.query<UsageSums>({ text: `select ${sums} from usage_days d where ${where}`, values }),
  ]);
  const [total] = totals;
  return {
    ...span,
    rows: found.slice(0, most).map(withKnownCost),
    isCut: found.length > most,
    total: total === undefined || total.calls === null ? nothing : withKnownCost(total),
  };
}

const nothing: UsageSums = {
  calls: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cost: 0,
  unpricedCalls: 0,
  estimatedPriceCalls: 0,
};

function withKnownCost<Sums extends UsageSums>(row: Sums): Sums {
  return row.calls > 0 && row.unpricedCalls === row.calls ? { ...row, cost: null } : row;
}
