import type { ModelTier } from './catalogue.ts';

/** Tiers of a new catalogue (control-plane-api.md "Model tier definition"). */
export const defaultTiers: readonly ModelTier[] = [
  { value: 1, label: 'Low' },
  { value: 2, label: 'Medium' },
  { value: 3, label: 'High' },
  { value: 4, label: 'Maximum' },
];
