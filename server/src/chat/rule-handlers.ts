import type { endpoints } from '@homeport/contracts/endpoints';
import type { Deps } from '../deps.ts';
import { type Handler, sourceOf } from '../http/handler.ts';
import { changeRules, readRules } from './tools/rules/tool-rules.ts';

type Endpoints = typeof endpoints;

/** GET /api/workspace/rules */
export const getWorkspaceRules: Handler<Deps, Endpoints['getWorkspaceRules']> = ({ db }, { actor }) =>
  readRules(db.kysely, actor.id);

/** PUT /api/workspace/rules */
export const putWorkspaceRules: Handler<Deps, Endpoints['putWorkspaceRules']> = (deps, input) => {
  const { actor, body } = input;
  return changeRules(deps, actor.id, body, sourceOf(input));
};
