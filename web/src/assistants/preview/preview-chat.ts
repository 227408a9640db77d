import { limits } from '@homeport/contracts/limits';
import { workspaceTools } from '@homeport/contracts/workspace/workspace-tools';
import type { CallOptions } from '../../api/api.ts';
import { effectiveModel } from '../../conversation/choices/model-choice.ts';
import type { ModelDecision } from '../../conversation/submission.ts';
import type { Translate } from '../../i18n/i18n.ts';
import { type AssistantValues, assistantBody, assistantFaults } from '../assistant-values.ts';

type PromptContext = Pick<CallOptions<'PATCH /api/chats'>['body'], 'instructions' | 'parameters' | 'toolRules'>;

/** A conversation's own settings that make it answer as this assistant would, saved or not. */
export function previewContext({ workspace, ...values }: AssistantValues): PromptContext {
  const { instructions, parameters } = assistantBody({ ...values, workspace }, undefined);
  const denied = workspaceTools.map((tool) => ({ tool, policy: 'deny' as const }));
  return { instructions, parameters, toolRules: workspace ? null : { preset: 'read-only', rules: denied } };
}

/** The model of one turn. */
export function previewDecision(values: AssistantValues, models: Parameters<typeof effectiveModel>[0]): ModelDecision {
  const { modelId = null, tier = null } = assistantBody(values, undefined);
  const { model } = effectiveModel(models, { kind: 'keep' }, undefined, { modelId, tier });
  return model === undefined || model.isDefault ? { kind: 'keep' } : { kind: 'once', modelId: model.id };
}

/** True when it can be tried: a name and who may use it are not needed for that. */
export function canPreview(values: AssistantValues, t: Translate): boolean {
  const tried = { ...values, name: 'x', description: '', starters: [], audience: 'me' as const };
  return Object.values(assistantFaults(tried, t)).every((fault) => fault === null || fault === undefined);
}

export function startersOf({ starters }: AssistantValues): string[] {
  const texts = starters.map(({ text }) => text.trim()).filter((text) => text !== '');
  return [...new Set(texts)].slice(0, limits.startersMax);
}
