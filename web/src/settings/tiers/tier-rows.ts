import type { ModelTier } from '@homeport/contracts/catalogue/catalogue';
import { limits } from '@homeport/contracts/limits';
import { textFault } from '../../forms/rules.ts';
import type { Translate } from '../../i18n/i18n.ts';

/** A tier while it is edited; its value is its identity and never changes. */
export type TierRow = ModelTier;

export function moveRow(rows: readonly TierRow[], from: number, to: number): TierRow[] {
  const next = [...rows];
  const [moved] = next.splice(from, 1);
  if (moved) next.splice(Math.max(0, Math.min(to, next.length)), 0, moved);
  return next;
}

/** A value that no tier has or had, so that no model comes under a new tier by accident. */
export function unusedTierValue(rows: readonly TierRow[], stored: readonly TierRow[]): number {
  const highest = Math.max(0, ...rows.map((row) => row.value), ...stored.map((row) => row.value));
  if (highest < limits.tierValueMax) return highest + 1;
  const taken = new Set([...rows, ...stored].map((row) => row.value));
  for (let value = 1; ; value += 1) if (!taken.has(value)) return value;
}

/** Faults by field path (`tiers.0.label`). */
export function tierFaults(rows: readonly TierRow[], t: Translate): Record<string, string | null> {
  const labels = rows.map((row) => row.label.trim().toLowerCase());
  const fault = (row: TierRow, index: number) =>
    textFault(row.label, limits.tierLabelMax, t) ??
    (labels.indexOf(labels[index] ?? '') === index ? null : t('tiers.twice'));
  return Object.fromEntries(rows.map((row, index) => [`tiers.${index}.label`, fault(row, index)]));
}
