import type { mcpContentEndpoints } from '@homeport/contracts/mcp/content';
import type { Deps } from '../deps.ts';
import type { Handler } from '../http/handler.ts';
import { getPrompt, listPrompts, listResources, readResource } from './content.ts';

type HandlerDeps = Pick<Deps, 'db' | 'mcp' | 'clock'>;
type ContentHandler<Name extends keyof typeof mcpContentEndpoints> = Handler<
  HandlerDeps,
  (typeof mcpContentEndpoints)[Name]
>;

/** GET /api/mcp/resources */
export const getMcpResources: ContentHandler<'getMcpResources'> = (deps, { actor, query }) =>
  listResources(deps, actor.id, query.id);

/** POST /api/mcp/resources */
export const postMcpResource: ContentHandler<'postMcpResource'> = (deps, { actor, body }) =>
  readResource(deps, actor.id, body);

/** GET /api/mcp/prompts */
export const getMcpPrompts: ContentHandler<'getMcpPrompts'> = (deps, { actor }) => listPrompts(deps, actor.id);

/** POST /api/mcp/prompts */
export const postMcpPrompt: ContentHandler<'postMcpPrompt'> = (deps, { actor, body }) =>
  getPrompt(deps, actor.id, body);
