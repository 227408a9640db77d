import type { Assistant } from '@homeport/contracts/assistants';
import type { Audience } from '@homeport/contracts/catalogue/sharing';
import { limits } from '@homeport/contracts/limits';
import type { CallOptions } from '../api/api.ts';
import { textFault } from '../forms/rules.ts';
import type { Translate } from '../i18n/i18n.ts';
import { instructionsBody, instructionsFault } from '../instructions/instructions-rules.ts';
import {
  type ParameterValues,
  parameterFormFaults,
  parametersOf,
  parameterValues,
} from '../instructions/parameter-values.ts';

export type Starter = { key: string; text: string };

export type AssistantValues = {
  name: string;
  description: string;
  icon: string | null;
  instructions: string;
  /** '' is the reader's default; `model:<id>`, `tier:<value>`; `missing` is a model that the reader does not have. */
  answerer: string;
  parameters: ParameterValues;
  /** Null: all of the reader's servers. */
  mcpServerIds: string[] | null;
  workspace: boolean;
  starters: Starter[];
  audience: Audience;
  projectId: string | null;
};

export function assistantValues(assistant: Assistant): AssistantValues {
  const { name, description, icon, instructions, parameters, mcpServerIds, workspace, audience, projectId } = assistant;
  return {
    name,
    description,
    icon,
    instructions: instructions ?? '',
    answerer: answererOf(assistant),
    parameters: parameterValues(parameters),
    mcpServerIds,
    workspace,
    starters: assistant.starters.map((text, index) => ({ key: `stored-${index}`, text })),
    audience,
    projectId,
  };
}

/** A new assistant begins as its maker's own. */
export const emptyValues: AssistantValues = {
  name: '',
  description: '',
  icon: null,
  instructions: '',
  answerer: '',
  parameters: parameterValues({}),
  mcpServerIds: null,
  workspace: true,
  starters: [],
  audience: 'me',
  projectId: null,
};

export function assistantFaults(values: AssistantValues, t: Translate): Record<string, string | null> {
  const { name, description, instructions, parameters, starters, audience, projectId } = values;
  const long = starters.map(({ text }, index) => [`starters.${index}.text`, longFault(text, limits.starterMax, t)]);
  return {
    name: textFault(name, limits.assistantNameMax, t),
    description: longFault(description, limits.assistantDescriptionMax, t),
    instructions: instructionsFault(instructions, t),
    ...parameterFormFaults(parameters, t),
    ...Object.fromEntries(long),
    projectId: audience === 'project' && projectId === null ? t('audience.projectMissing') : null,
  };
}

type Body = Omit<CallOptions<'PATCH /api/assistants'>['body'], 'id' | 'restoreVersion'>;

/** Request body for these values: all of a new assistant, otherwise the members that differ from `stored`. */
export function assistantBody(values: AssistantValues, stored: AssistantValues | undefined): Body {
  const all = fullBody(values);
  if (!stored) return all;
  const before = fullBody(stored);
  const changed = Object.entries(all).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(Reflect.get(before, name)),
  );
  const body: Body = Object.fromEntries(changed);
  const isShared = body.audience !== undefined || body.projectId !== undefined;
  return isShared ? { ...body, audience: values.audience, projectId: all.projectId } : body;
}

function fullBody(values: AssistantValues) {
  const { name, description, icon, instructions, answerer, parameters, mcpServerIds, workspace, audience } = values;
  const [kind, id = ''] = split(answerer);
  return {
    name: name.trim(),
    description: description.trim(),
    icon,
    instructions: instructionsBody(instructions),
    ...(kind === 'missing' ? {} : { modelId: kind === 'model' ? id : null, tier: kind === 'tier' ? Number(id) : null }),
    parameters: parametersOf(parameters),
    mcpServerIds,
    workspace,
    starters: values.starters.map(({ text }) => text.trim()).filter((text) => text !== ''),
    audience,
    projectId: audience === 'project' ? values.projectId : null,
  };
}

function answererOf({ modelId, tier, missing }: Pick<Assistant, 'modelId' | 'tier' | 'missing'>): string {
  if (modelId !== null) return `model:${modelId}`;
  if (missing.model) return 'missing';
  return tier === null ? '' : `tier:${tier}`;
}

function split(answerer: string): string[] {
  const at = answerer.indexOf(':');
  return at < 0 ? [answerer] : [answerer.slice(0, at), answerer.slice(at + 1)];
}

function longFault(value: string, max: number, t: Translate): string | null {
  return value.trim().length > max ? t('form.tooLong', { max }) : null;
}
