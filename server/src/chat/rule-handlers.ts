import type { endpoints } from '@homeport/contracts/endpoints';
import type { Deps } from '../deps.ts';
import type { Handler } from '../http/handler.ts';
import { readRules, replaceRules } from './tools/tool-rules.ts';

type Endpoints = typeof endpoints;

/** GET /api/workspace/rules */
export const getWorkspaceRules: Handler<Deps, Endpoints['getWorkspaceRules']> = ({ db }, { actor }) =>
  readRules(db.kysely, actor.id);

/** PUT /api/workspace/rules */
export const putWorkspaceRules: Handler<Deps, Endpoints['putWorkspaceRules']> = async ({ db }, { actor, body }) => {
  await replaceRules(db.kysely, actor.id, body);
  return body;
};
