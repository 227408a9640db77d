import type { endpoints } from '@homeport/contracts/endpoints';
import { type Handler, sourceOf } from '../http/handler.ts';
import type { Platform } from '../platform.ts';
import * as assistants from './assistants.ts';
import * as prompts from './prompts.ts';

type Endpoints = typeof endpoints;
type Needs = Pick<Platform, 'db' | 'config'>;

/** GET /api/assistants: a page of them, or with `id` one. */
export const getAssistants: Handler<Needs, Endpoints['getAssistants']> = async (deps, { actor, query }) => {
  const { id, ...page } = query;
  if (id !== undefined) return { assistant: await assistants.getAssistant(deps, actor, id) };
  return assistants.listAssistants(deps, actor, page);
};

/** POST /api/assistants */
export const postAssistant: Handler<Needs, Endpoints['postAssistant']> = async (deps, input) => ({
  assistant: await assistants.createAssistant(deps, input.actor, input.body, sourceOf(input)),
});

/** PATCH /api/assistants */
export const patchAssistant: Handler<Needs, Endpoints['patchAssistant']> = async (deps, input) => ({
  assistant: await assistants.updateAssistant(deps, input.actor, input.body, sourceOf(input)),
});

/** DELETE /api/assistants */
export const deleteAssistant: Handler<Needs, Endpoints['deleteAssistant']> = async (deps, input) => {
  await assistants.deleteAssistant(deps, input.actor, input.query.id, sourceOf(input));
  return { ok: true };
};

/** GET /api/assistants/versions */
export const getAssistantVersions: Handler<Needs, Endpoints['getAssistantVersions']> = async (
  deps,
  { actor, query },
) => ({ versions: await assistants.listVersions(deps, actor, query.id) });

/** GET /api/prompts */
export const getPrompts: Handler<Needs, Endpoints['getPrompts']> = (deps, { actor, query }) =>
  prompts.listPrompts(deps, actor, query);

/** POST /api/prompts */
export const postPrompt: Handler<Needs, Endpoints['postPrompt']> = async (deps, input) => ({
  prompt: await prompts.createPrompt(deps, input.actor, input.body, sourceOf(input)),
});

/** PATCH /api/prompts */
export const patchPrompt: Handler<Needs, Endpoints['patchPrompt']> = async (deps, input) => ({
  prompt: await prompts.updatePrompt(deps, input.actor, input.body, sourceOf(input)),
});

/** DELETE /api/prompts */
export const deletePrompt: Handler<Needs, Endpoints['deletePrompt']> = async (deps, input) => {
  await prompts.deletePrompt(deps, input.actor, input.query.id, sourceOf(input));
  return { ok: true };
};

/** POST /api/prompts/used */
export const postPromptUsed: Handler<Needs, Endpoints['postPromptUsed']> = async (deps, { actor, body }) => {
  await prompts.notePromptUsed(deps, actor, body.id);
  return { ok: true };
};
