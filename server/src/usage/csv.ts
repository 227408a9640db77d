import { setImmediate } from 'node:timers/promises';
import { csvCell } from '@homeport/contracts/text/csv';
import type { UsageReport, UsageRow } from '@homeport/contracts/usage';

/** Usage as a table for other programs (RFC 4180). */

type Column = [name: string, read: (row: UsageRow) => string | number | null | undefined];

const named: Record<UsageReport['by'], Column[]> = {
  day: [['day', ({ day }) => day]],
  model: [
    ['provider', ({ providerName }) => providerName],
    ['model', ({ providerModelId }) => providerModelId],
  ],
  person: [
    ['user_id', ({ userId }) => userId],
    ['name', ({ name }) => name],
    ['email', ({ email }) => email],
  ],
};
const counted: Column[] = [
  ['calls', ({ calls }) => calls],
  ['input_tokens', ({ inputTokens }) => inputTokens],
  ['cached_input_tokens', ({ cachedInputTokens }) => cachedInputTokens],
  ['cache_write_tokens', ({ cacheWriteTokens }) => cacheWriteTokens],
  ['output_tokens', ({ outputTokens }) => outputTokens],
  ['reasoning_tokens', ({ reasoningTokens }) => reasoningTokens],
  ['cost_micros', ({ cost }) => cost],
  ['unpriced_calls', ({ unpricedCalls }) => unpricedCalls],
];

const rowsAtOnce = 500;

/** Writes the report as CSV and yields to the event loop after every few hundred rows. */
export async function usageCsv({ by, from, to, rows }: UsageReport): Promise<string> {
  const span: Column[] = [
    ['period_start', () => from],
    ['period_end', () => to],
  ];
  const columns = [...named[by], ...counted, ...(by === 'day' ? [] : span)];
  let text = `${columns.map(([name]) => name).join(',')}\r\n`;
  for (const [index, row] of rows.entries()) {
    text += `${columns.map(([, read]) => csvCell(read(row))).join(',')}\r\n`;
    if (index % rowsAtOnce === rowsAtOnce - 1) await setImmediate();
  }
  return text;
}
