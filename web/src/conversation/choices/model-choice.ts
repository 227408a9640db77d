import type { Model, ModelTier, Provider } from '@homeport/contracts/catalogue/catalogue';
import type { ModelDecision } from '../submission.ts';

/** Models that can answer, under the tiers in their order; empty tiers are left out. */
export function groupByTier(
  providers: readonly Provider[],
  tiers: readonly ModelTier[],
): { tier: ModelTier; models: Model[] }[] {
  const models = enabledModels(providers);
  return tiers
    .map((tier) => ({ tier, models: models.filter((model) => model.tier === tier.value) }))
    .filter((group) => group.models.length > 0);
}

/** Models that are enabled under an enabled provider. */
export function enabledModels(providers: readonly Provider[]): Model[] {
  return providers
    .filter((provider) => provider.enabled)
    .flatMap((provider) => provider.models.filter((model) => model.enabled));
}

/**
 * The model that will answer next: the person's choice, else the conversation's pin, else the assistant's model or the
 * first of its tier, else the default.
 */
export function effectiveModel(
  models: readonly Model[],
  decision: ModelDecision,
  chat: { modelPinned: boolean; modelId: string | null } | undefined,
  assistant?: { modelId: string | null; tier: number | null },
): { model: Model | undefined; kind: 'default' | 'pin' | 'once' } {
  const byId = (id: string | null) => models.find((model) => model.id === id);
  const ofAssistant = assistant && (byId(assistant.modelId) ?? models.find(({ tier }) => tier === assistant.tier));
  const standard = ofAssistant ?? models.find((model) => model.isDefault);
  if (decision.kind === 'pin' || decision.kind === 'once')
    return { model: byId(decision.modelId), kind: decision.kind };
  const pinned = decision.kind === 'keep' && chat?.modelPinned ? byId(chat.modelId) : undefined;
  return pinned ? { model: pinned, kind: 'pin' } : { model: standard, kind: 'default' };
}
