import { accountEndpoints } from './accounts.ts';
import { adminEndpoints } from './admin.ts';
import { artifactEndpoints } from './artifacts.ts';
import { assistantEndpoints } from './assistants.ts';
import { catalogueEndpoints } from './catalogue-endpoints.ts';
import { changesEndpoints } from './changes.ts';
import { chatEndpoints } from './chat.ts';
import { contextEndpoints } from './context.ts';
import { conversationEndpoints } from './conversations.ts';
import { importEndpoints } from './imports.ts';
import { mcpEndpoints } from './mcp.ts';
import { mcpContentEndpoints } from './mcp-content.ts';
import { mcpOfferEndpoints } from './mcp-offers.ts';
import { modelRegistryEndpoints } from './model-registry.ts';
import { operationEndpoints } from './operations.ts';
import { programModelEndpoints } from './program-models.ts';
import { projectEndpoints } from './projects.ts';
import { promptEndpoints } from './prompts.ts';
import { provisionEndpoints } from './provision.ts';
import { skillEndpoints } from './skills.ts';
import { summaryEndpoints } from './summaries.ts';
import { systemEndpoints } from './system.ts';
import { toolRuleEndpoints } from './tool-rules.ts';
import { usageEndpoints } from './usage.ts';
import { workspaceEndpoints } from './workspace.ts';

/**
 * EVERY endpoint. Guard, validation, OpenAPI document, typed client and the authorization matrix come from this table.
 */
export const endpoints = {
  ...systemEndpoints,
  ...accountEndpoints,
  ...catalogueEndpoints,
  ...modelRegistryEndpoints,
  ...conversationEndpoints,
  ...chatEndpoints,
  ...contextEndpoints,
  ...summaryEndpoints,
  ...changesEndpoints,
  ...mcpEndpoints,
  ...mcpContentEndpoints,
  ...mcpOfferEndpoints,
  ...projectEndpoints,
  ...assistantEndpoints,
  ...promptEndpoints,
  ...skillEndpoints,
  ...artifactEndpoints,
  ...workspaceEndpoints,
  ...programModelEndpoints,
  ...toolRuleEndpoints,
  ...usageEndpoints,
  ...adminEndpoints,
  ...operationEndpoints,
  ...provisionEndpoints,
  ...importEndpoints,
} as const;

export type Endpoints = typeof endpoints;
export type EndpointName = keyof Endpoints;

/** `'POST /api/providers'`: how the typed client names an endpoint without importing this table at run time. */
export type Route = { [N in EndpointName]: `${Endpoints[N]['method']} ${Endpoints[N]['path']}` }[EndpointName];
export type EndpointAt<R extends Route> = {
  [N in EndpointName]: `${Endpoints[N]['method']} ${Endpoints[N]['path']}` extends R ? Endpoints[N] : never;
}[EndpointName];
