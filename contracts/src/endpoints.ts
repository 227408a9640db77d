import { accountEndpoints } from './accounts/accounts.ts';
import { tokenEndpoints } from './accounts/tokens.ts';
import { adminEndpoints } from './admin.ts';
import { assistantEndpoints } from './assistants.ts';
import { catalogueEndpoints } from './catalogue/endpoints.ts';
import { gatewayEndpoints } from './catalogue/gateway.ts';
import { modelRegistryEndpoints } from './catalogue/model-registry.ts';
import { programModelEndpoints } from './catalogue/program-models.ts';
import { changesEndpoints } from './chat/changes.ts';
import { chatEndpoints } from './chat/chat.ts';
import { contextEndpoints } from './chat/context.ts';
import { conversationEndpoints } from './chat/conversations.ts';
import { summaryEndpoints } from './chat/summaries.ts';
import { toolRuleEndpoints } from './chat/tool-rules.ts';
import { artifactEndpoints } from './files/artifacts.ts';
import { importEndpoints } from './imports.ts';
import { mcpContentEndpoints } from './mcp/content.ts';
import { mcpEndpoints } from './mcp/mcp.ts';
import { mcpOfferEndpoints } from './mcp/offers.ts';
import { operationSettingsEndpoints } from './operation-settings.ts';
import { operationEndpoints } from './operations.ts';
import { projectEndpoints } from './projects.ts';
import { promptEndpoints } from './prompts.ts';
import { provisionEndpoints } from './provision/provision.ts';
import { sharingEndpoints } from './sharing.ts';
import { skillEndpoints } from './skills.ts';
import { systemEndpoints } from './system.ts';
import { usageEndpoints } from './usage.ts';
import { webSearchEndpoints } from './web-search.ts';
import { workspaceEndpoints } from './workspace/workspace.ts';

/**
 * EVERY endpoint. Guard, validation, OpenAPI document, typed client and the authorization matrix come from this table.
 */
export const endpoints = {
  ...systemEndpoints,
  ...accountEndpoints,
  ...tokenEndpoints,
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
  ...sharingEndpoints,
  ...workspaceEndpoints,
  ...programModelEndpoints,
  ...gatewayEndpoints,
  ...toolRuleEndpoints,
  ...usageEndpoints,
  ...webSearchEndpoints,
  ...adminEndpoints,
  ...operationEndpoints,
  ...operationSettingsEndpoints,
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
