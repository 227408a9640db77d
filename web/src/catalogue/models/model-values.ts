import type { Model, ModelTier } from '@homeport/contracts/catalogue/catalogue';
import { limits } from '@homeport/contracts/limits';
import { countFault, textFault } from '../../forms/rules.ts';
import type { Translate } from '../../i18n/i18n.ts';

/** Sizes and tier of models; a number field holds '' while it is empty. */
export type ModelSizes = { contextWindow: number | string; maxOutputTokens: number | string; tier: string };
export type ModelValues = ModelSizes & { displayName: string; providerModelId: string };

/** Right for most current models, and harmless for the others: the output only has to fit into the window. */
export function defaultSizes(tiers: readonly ModelTier[]): ModelSizes {
  return { contextWindow: 128_000, maxOutputTokens: 8_192, tier: String((tiers[1] ?? tiers[0])?.value ?? 1) };
}

export function modelValues(model: Model): ModelValues {
  const { displayName, providerModelId, contextWindow, maxOutputTokens, tier } = model;
  return { displayName, providerModelId, contextWindow, maxOutputTokens, tier: String(tier) };
}

export function sizeFaults(values: ModelSizes, t: Translate): Record<string, string | null> {
  const contextWindow = countFault(values.contextWindow, t);
  const output = countFault(values.maxOutputTokens, t);
  const isTooLong = !contextWindow && !output && Number(values.maxOutputTokens) > Number(values.contextWindow);
  return { contextWindow, maxOutputTokens: isTooLong ? t('model.maxOutputBad') : output };
}

export function modelFaults(values: ModelValues, t: Translate): Record<string, string | null> {
  return {
    displayName: textFault(values.displayName, limits.displayNameMax, t),
    providerModelId: textFault(values.providerModelId, limits.providerModelIdMax, t),
    ...sizeFaults(values, t),
  };
}

export function sizesBody(values: ModelSizes): { contextWindow: number; maxOutputTokens: number; tier: number } {
  return {
    contextWindow: Number(values.contextWindow),
    maxOutputTokens: Number(values.maxOutputTokens),
    tier: Number(values.tier),
  };
}

/** A first name for a model: its id without the vendor prefix (`meta-llama/llama-4` → `llama-4`). */
export function nameOfId(providerModelId: string): string {
  const last = providerModelId.split('/').at(-1)?.trim() || providerModelId;
  return last.slice(0, limits.displayNameMax).trim();
}
