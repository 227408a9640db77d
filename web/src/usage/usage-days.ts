/** Days in UTC, as reports count them. */

export type Span = 'month' | 'last' | 'year';

/** First and last day of a period, in UTC. */
export function spanDays(span: Span, now: Date): { from: string; to: string } {
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  if (span === 'last') return { from: day(Date.UTC(year, month - 1, 1)), to: day(Date.UTC(year, month, 0)) };
  if (span === 'month') return { from: day(Date.UTC(year, month, 1)), to: day(now.getTime()) };
  return { from: day(now.getTime() - 364 * 86_400_000), to: day(now.getTime()) };
}

/** Every day from first to last, with the tokens or calls of each. */
export function everyDay(
  { from, to }: { from: string; to: string },
  rows: readonly { day?: string; calls: number; inputTokens: number; outputTokens: number }[],
  counts: 'tokens' | 'calls' = 'tokens',
): { day: string; amount: number }[] {
  const amounts = new Map(
    rows.map((row) => [row.day, counts === 'calls' ? row.calls : row.inputTokens + row.outputTokens]),
  );
  const days: { day: string; amount: number }[] = [];
  for (let time = Date.parse(from); time <= Date.parse(to); time += 86_400_000) {
    const day = new Date(time).toISOString().slice(0, 10);
    days.push({ day, amount: amounts.get(day) ?? 0 });
  }
  return days;
}
