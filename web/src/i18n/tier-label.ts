import type { ModelTier } from '@homeport/contracts/catalogue/catalogue';
import { defaultTiers } from '@homeport/contracts/catalogue/default-tiers';
import type { TextId, Translate } from './i18n.ts';

const names: readonly TextId[] = ['tier.low', 'tier.medium', 'tier.high', 'tier.maximum'];

/** A tier's displayed name: in the reader's language unless it was renamed. */
export function tierLabel({ value, label }: ModelTier, t: Translate): string {
  const id = names[defaultTiers.findIndex((tier) => tier.value === value && tier.label === label)];
  return id === undefined ? label : t(id);
}

/** Stored name for a displayed name: if unchanged, the default's own name. */
export function storedTierLabel({ value, label }: ModelTier, t: Translate): string {
  const untouched = defaultTiers.find((tier) => tier.value === value && tierLabel(tier, t) === label);
  return untouched?.label ?? label;
}
