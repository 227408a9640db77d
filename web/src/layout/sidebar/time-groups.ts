export type TimeGroup = 'today' | 'yesterday' | 'week' | 'month' | `${number}-${number}`;

/** The list's heading for a time, by local calendar days; older ones by month as `2026-3` (March). */
export function timeGroup(moment: Date, now: Date): TimeGroup {
  const days = Math.round((startOfDay(now) - startOfDay(moment)) / 86_400_000);
  if (days <= 0) return 'today';
  if (days === 1) return 'yesterday';
  if (days <= 7) return 'week';
  if (days <= 30) return 'month';
  return `${moment.getFullYear()}-${moment.getMonth() + 1}`;
}

/** Groups neighboring items, in the given order. */
export function groupByTime<T extends { updatedAt: string }>(
  items: readonly T[],
  now: Date,
): { group: TimeGroup; items: T[] }[] {
  const groups: { group: TimeGroup; items: T[] }[] = [];
  for (const item of items) {
    const group = timeGroup(new Date(item.updatedAt), now);
    const last = groups.at(-1);
    if (last?.group === group) last.items.push(item);
    else groups.push({ group, items: [item] });
  }
  return groups;
}

function startOfDay(moment: Date): number {
  return new Date(moment.getFullYear(), moment.getMonth(), moment.getDate()).getTime();
}
