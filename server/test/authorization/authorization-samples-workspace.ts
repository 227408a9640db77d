import type { EndpointName } from '@homeport/contracts/endpoints';
import { nothing, type Sample } from './authorization-sample.ts';

/** Requests of workspaces, none of which ever starts in this world, and of the programs inside them. */

/** Requests that need a running workspace. */
const refused: Sample = { ...nothing, own: 503 };

const scope = ({ records }: { records: { chat: string } }) => ({ 'x-artifact-scope': `chat:${records.chat}` });
const internalArtifact: Sample = {
  request: (own) => ({ query: { id: own.records.artifact }, headers: scope(own) }),
  own: 200,
  ids: { 'query.id': { names: 'artifact' } },
};

/** Nothing runs in a stopped workspace, and reading starts none. */
const process: Sample = {
  request: () => ({ query: { id: '0123456789abcdef' } }),
  own: 404,
  ids: { 'query.id': { names: 'text' } },
};

const storedResponse = {
  ...nothing,
  request: () => ({ params: { response: 'resp_x' } }),
  ids: { 'params.response': { names: 'shown elsewhere', test: 'gateway-kept.test.ts' } },
} satisfies Sample;

export const workspaceSamples = {
  getWorkspaceStatus: nothing,
  getWorkspaceUsage: nothing,
  postWorkspaceStatus: refused,
  deleteWorkspaceStatus: nothing,
  getWorkspaceRules: nothing,
  putWorkspaceRules: {
    ...nothing,
    request: () => ({ body: { preset: 'ask', rules: [{ tool: 'bash', policy: 'ask' }] } }),
  },
  getWorkspaceFiles: refused,
  postWorkspaceFile: { ...refused, request: () => ({ form: {} }) },
  patchWorkspaceFile: { ...refused, request: () => ({ body: { from: 'a.txt', to: 'b.txt' } }) },
  postWorkspaceFolder: { ...refused, request: () => ({ body: { path: 'folder' } }) },
  deleteWorkspaceFile: { ...refused, request: () => ({ query: { path: 'a.txt' } }) },
  getWorkspaceDownload: { ...refused, request: () => ({ query: { path: 'a.txt' } }) },
  getWorkspacePorts: nothing,
  getWorkspaceProcesses: nothing,
  getWorkspaceProcessOutput: process,
  deleteWorkspaceProcess: process,
  postWorkspacePreview: { ...nothing, own: 201, request: () => ({ body: { port: 4000, path: '/' } }) },
  getInternalConversations: {
    request: ({ records }) => ({ query: { chatId: records.chat } }),
    own: 200,
    ids: { 'query.chatId': { names: 'chat' } },
  },
  getInternalArtifacts: { ...nothing, request: (own) => ({ headers: scope(own) }) },
  getInternalArtifactStat: internalArtifact,
  getInternalArtifactPreview: internalArtifact,
  getInternalArtifactDownload: internalArtifact,
  putInternalArtifact: {
    ...nothing,
    request: (own) => ({ query: { path: 'put.txt' }, headers: scope(own), upload: 'A new file' }),
    own: 201,
  },
  patchInternalArtifact: {
    request: (own) => ({ body: { id: own.records.artifact, to: 'moved/file.txt' }, headers: scope(own) }),
    own: 200,
    ids: { 'body.id': { names: 'artifact' } },
  },
  deleteInternalArtifact: internalArtifact,
  getGatewayModels: nothing,
  getGatewayModel: { ...nothing, request: () => ({ params: { model: 'default' } }) },
  postChatCompletion: { ...nothing, request: () => ({ body: { messages: [{ role: 'user', content: 'Hello' }] } }) },
  postGatewayResponse: { ...nothing, request: () => ({ body: { input: 'Hello' } }) },
  getGatewayResponse: storedResponse,
  deleteGatewayResponse: storedResponse,
  postGatewayResponseCancel: storedResponse,
  postGatewayMessage: {
    ...nothing,
    request: () => ({ body: { max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] } }),
  },
  postCountTokens: { ...nothing, request: () => ({ body: { messages: [{ role: 'user', content: 'Hello' }] } }) },
  postEmbeddings: { ...nothing, request: () => ({ body: { input: 'Hello' } }) },
  getInternalModels: nothing,
  postInternalCompletion: {
    ...nothing,
    request: () => ({ body: { messages: [{ role: 'user', content: 'Hello' }] } }),
  },
} satisfies Partial<Record<EndpointName, Sample>>;

/** Rows whose handlers are still to come. */
export const beingBuilt: readonly EndpointName[] = [];
