import type { ModelTier } from '@homeport/contracts/catalogue';
import { defaultTiers } from '@homeport/contracts/default-tiers';
import type { TextId, Translate } from './i18n.ts';

const names: readonly TextId[] = ['tier.low', 'tier.medium', 'tier.high', 'tier.maximum'];

/** A tier's name on the screen: one that nobody has renamed in the reader's language. */
export function tierLabel({ value, label }: ModelTier, t: Translate): string {
  const id = names[defaultTiers.findIndex((tier) => tier.value === value && tier.label === label)];
  return id === undefined ? label : t(id);
}

/** What to store for a name on the screen: untouched, it stays the default's. */
export function storedTierLabel({ value, label }: ModelTier, t: Translate): string {
  const untouched = defaultTiers.find((tier) => tier.value === value && tierLabel(tier, t) === label);
  return untouched?.label ?? label;
}
