import { randomUUIDv7 } from 'node:crypto';
import type { EndpointName } from '@homeport/contracts/endpoints';
import type { ErrorCode } from '@homeport/contracts/errors';
import { type Actor, actorPassword, type RecordKind } from './authorization-world.ts';

/** A valid request of every endpoint about the caller's own records, and what each id in it names. */

export type SampleRequest = {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  form?: Record<string, string>;
};

export type IdRule =
  /**
   * Names a record of this kind: an id that is not the caller's answers 404, or `unknown` where it only filters. `openTo`: whoever
   * may use it, whoever made it.
   */
  | { names: RecordKind; unknown?: 200; openTo?: Actor['kind']; request?: (own: Actor) => SampleRequest }
  /** Names a record of a kind that has no endpoint of its own yet: any id is unknown. */
  | { names: 'nothing yet'; unknown?: 200; request?: (own: Actor) => SampleRequest }
  /** Names an account: any that exists will do. */
  | { names: 'person'; request?: (own: Actor) => SampleRequest }
  /** Made by the client: one in use by somebody else is a conflict. */
  | { names: 'new'; taken: ErrorCode; takenBy: RecordKind }
  /** Ends in Id and names nothing of ours. */
  | { names: 'text' };

export type Sample = {
  request(own: Actor): SampleRequest;
  /** Status about one's own records. */
  own: number;
  /** Other statuses of public endpoints by kind of caller. */
  others?: Partial<Record<Actor['kind'], number>>;
  ids: Record<string, IdRule>;
  /** Kinds of callers that may send the request, but not with an id in it. */
  withIds?: Partial<Record<Actor['kind'], ErrorCode>>;
};

const nothing = { request: () => ({}), own: 200, ids: {} } satisfies Sample;
const modelFields = { displayName: 'Model', contextWindow: 8000, maxOutputTokens: 1000, tier: 1 };
const said = (id: string) => ({ id, parts: [{ type: 'text', text: 'Hello' }] });
const submission: Sample['request'] = ({ records }) => ({
  body: {
    ...{ chatId: records.chat, message: said(randomUUIDv7()), parentId: records.answer },
    ...{ modelId: records.model, mcpServerIds: [] },
  },
});
const submissionIds: Sample['ids'] = {
  'body.chatId': { names: 'chat' },
  'body.message.id': { names: 'new', taken: 'input_conflict', takenBy: 'message' },
  'body.parentId': { names: 'message' },
  'body.modelId': { names: 'model' },
  'body.mcpServerIds.*': { names: 'mcpServer' },
};

const newMcpServer = { name: 'New', url: 'http://127.0.0.1:9/mcp' };
const ofMcpServer: Sample = {
  request: ({ records }) => ({ body: { id: records.mcpServer } }),
  own: 200,
  ids: { 'body.id': { names: 'mcpServer' } },
};
const ofUserMcpServer: Sample = {
  request: ({ id, records }) => ({ query: { userId: id }, body: { id: records.mcpServer } }),
  own: 200,
  ids: { 'query.userId': { names: 'person' }, 'body.id': { names: 'mcpServer' } },
};

const artifactSample: Sample = {
  request: ({ records }) => ({ query: { chatId: records.chat, id: records.artifact } }),
  own: 200,
  ids: {
    'query.chatId': { names: 'chat' },
    'query.projectId': { names: 'project', request: ({ records }) => ({ query: { id: records.artifact } }) },
    'query.id': { names: 'artifact' },
  },
};

const person = { names: 'person' } satisfies IdRule;

/** What an administrator asks about `records.person`. */
function ofPerson(sample: Sample): Sample {
  return {
    ...sample,
    request(own) {
      const { query, ...rest } = sample.request(own);
      return { ...rest, query: { userId: own.records.person, ...query } };
    },
    ids: { 'query.userId': person, ...sample.ids },
  };
}

/** A new row of the endpoint table does not compile until it says here how it is called. */
export const samples: Record<EndpointName, Sample> = {
  getHealth: nothing,
  getPublicConfig: nothing,
  getOpenapi: nothing,
  getDocs: nothing,
  getDocsAsset: { ...nothing, request: () => ({ params: { file: 'initializer.js' } }) },
  getSetup: nothing,
  // There are users, so setup is closed to everybody.
  postSetup: {
    ...nothing,
    request: () => ({ body: { name: 'Eve', email: 'eve@example.org', password: actorPassword } }),
    own: 409,
  },
  postSignIn: {
    ...nothing,
    request: ({ email }) => ({ body: { email, password: actorPassword } }),
    others: { disabled: 403 },
  },
  postSignOut: nothing,
  getAuthSession: { ...nothing, others: { disabled: 403 } },
  postChangePassword: {
    ...nothing,
    request: () => ({ body: { currentPassword: actorPassword, newPassword: 'another horse 2' } }),
  },
  getMe: nothing,
  patchMe: { ...nothing, request: () => ({ body: { name: 'New Name' } }) },
  getMySessions: nothing,
  deleteMySessions: {
    request: ({ records }) => ({ query: { id: records.session } }),
    own: 200,
    ids: { 'query.id': { names: 'session' } },
  },

  getProviders: nothing,
  postProvider: {
    ...nothing,
    request: () => ({ body: { name: 'New', baseUrl: 'https://api.example.org/v1', apiKey: 'sk-new' } }),
    own: 201,
  },
  patchProvider: {
    request: ({ records }) => ({ body: { id: records.provider, name: 'Renamed' } }),
    own: 200,
    ids: { 'body.id': { names: 'provider' } },
  },
  deleteProvider: {
    request: ({ records }) => ({ query: { id: records.provider } }),
    own: 200,
    ids: { 'query.id': { names: 'provider' } },
  },
  postProviderTest: {
    request: ({ records }) => ({ body: { id: records.provider } }),
    own: 200,
    ids: { 'body.id': { names: 'provider' } },
  },
  postModel: {
    request: ({ records }) => ({ body: { ...modelFields, providerId: records.provider, providerModelId: 'echo' } }),
    own: 201,
    ids: { 'body.providerId': { names: 'provider' }, 'body.providerModelId': { names: 'text' } },
  },
  patchModel: {
    request: ({ records }) => ({ body: { id: records.model, displayName: 'Renamed', providerModelId: 'echo' } }),
    own: 200,
    ids: { 'body.id': { names: 'model' }, 'body.providerModelId': { names: 'text' } },
  },
  deleteModel: {
    request: ({ records }) => ({ query: { id: records.model } }),
    own: 200,
    ids: { 'query.id': { names: 'model' } },
  },
  getModelTiers: nothing,
  putModelTiers: { ...nothing, request: () => ({ body: { tiers: [{ value: 1, label: 'Only' }] } }) },

  getChats: {
    request: ({ records }) => ({ query: { id: records.chat, before: records.answer } }),
    own: 200,
    ids: {
      'query.id': { names: 'chat' },
      'query.before': { names: 'message' },
      'query.projectId': { names: 'project', unknown: 200, request: () => ({ query: {} }) },
    },
  },
  postChat: {
    request: () => ({ body: { id: randomUUIDv7(), title: 'New' } }),
    own: 201,
    ids: {
      'body.id': { names: 'new', taken: 'id_taken', takenBy: 'chat' },
      'body.projectId': { names: 'project' },
    },
  },
  patchChat: {
    request: ({ records }) => ({
      body: { id: records.chat, title: 'Renamed', modelPinned: true, modelId: records.model },
    }),
    own: 200,
    ids: {
      'body.id': { names: 'chat' },
      'body.projectId': { names: 'project' },
      'body.activeMessageId': { names: 'message', request: ({ records }) => ({ body: { id: records.chat } }) },
      'body.modelId': { names: 'model' },
      'body.mcpServerIds.*': { names: 'mcpServer' },
    },
  },
  deleteChat: {
    request: ({ records }) => ({ query: { id: records.chat } }),
    own: 200,
    ids: { 'query.id': { names: 'chat' } },
  },
  exportChat: {
    request: ({ records }) => ({ query: { id: records.chat, format: 'json' } }),
    own: 200,
    ids: { 'query.id': { names: 'chat' } },
  },

  getArtifacts: {
    request: ({ records }) => ({ query: { chatId: records.chat } }),
    own: 200,
    ids: { 'query.chatId': { names: 'chat' }, 'query.projectId': { names: 'project', request: () => ({}) } },
  },
  getArtifactStat: artifactSample,
  getArtifactPreview: artifactSample,
  getArtifactDownload: artifactSample,
  postArtifact: {
    request: ({ records }) => ({ form: { chatId: records.chat } }),
    own: 201,
    ids: {
      'form.chatId': { names: 'chat' },
      'form.projectId': { names: 'project', request: () => ({ form: {} }) },
    },
  },
  patchArtifact: {
    request: ({ records }) => ({ body: { chatId: records.chat, id: records.artifact, to: 'moved/file.txt' } }),
    own: 200,
    ids: {
      'body.chatId': { names: 'chat' },
      'body.projectId': {
        names: 'project',
        request: ({ records }) => ({ body: { id: records.artifact, to: 'moved/file.txt' } }),
      },
      'body.id': { names: 'artifact' },
    },
  },
  deleteArtifact: artifactSample,
  postArtifactImport: {
    request: ({ records }) => ({
      form: {
        ...{ chatId: records.chat, artifactId: randomUUIDv7(), importSource: randomUUIDv7(), path: 'imported.txt' },
      },
    }),
    own: 201,
    ids: {
      // An administrator imports into anybody's: artifacts-import.test.ts.
      'form.chatId': { names: 'text' },
      'form.projectId': { names: 'text' },
      'form.artifactId': { names: 'new', taken: 'id_taken', takenBy: 'artifact' },
    },
  },

  postChatStart: { request: submission, own: 201, ids: submissionIds },
  postTurnInput: { request: submission, own: 201, ids: submissionIds },
  getTurnInputs: {
    request: ({ records }) => ({ query: { chatId: records.chat } }),
    own: 200,
    ids: { 'query.chatId': { names: 'chat' } },
  },
  deleteTurnInput: {
    request: ({ records }) => ({ query: { chatId: records.chat, id: records.input } }),
    own: 200,
    ids: { 'query.chatId': { names: 'chat' }, 'query.id': { names: 'input' } },
  },
  postChatResponse: {
    request: ({ records }) => ({ body: { chatId: records.chat, messageId: records.input, modelId: records.model } }),
    own: 200,
    ids: {
      'body.chatId': { names: 'chat' },
      'body.messageId': { names: 'input' },
      'body.modelId': { names: 'model' },
      'body.mcpServerIds.*': { names: 'mcpServer' },
    },
  },
  getChatStream: {
    request: ({ records }) => ({ params: { chatId: records.chat } }),
    own: 204,
    ids: { 'params.chatId': { names: 'chat' } },
  },
  postChatStop: {
    request: ({ records }) => ({ params: { chatId: records.chat }, body: {} }),
    own: 200,
    ids: {
      'params.chatId': { names: 'chat' },
      'body.assistantId': { names: 'answer', unknown: 200 },
    },
  },

  getAdminUsers: nothing,
  postAdminUser: {
    ...nothing,
    request: () => ({ body: { name: 'New', email: `${randomUUIDv7()}@example.org`, password: actorPassword } }),
    own: 201,
  },
  patchAdminUser: {
    request: ({ records }) => ({ body: { id: records.person, name: 'Renamed' } }),
    own: 200,
    ids: { 'body.id': person },
  },
  getInvitations: nothing,
  postInvitation: {
    ...nothing,
    request: () => ({ body: { email: `${randomUUIDv7()}@example.org` } }),
    own: 201,
  },
  putInvitation: {
    ...nothing,
    request: ({ records }) => ({ body: { token: records.invitationToken, name: 'Invited', password: actorPassword } }),
    own: 201,
  },
  deleteInvitation: {
    request: ({ records }) => ({ query: { id: records.invitation } }),
    own: 200,
    ids: { 'query.id': { names: 'invitation', openTo: 'administrator' } },
  },
  getAudit: nothing,

  getUserProviders: ofPerson(nothing),
  postUserProvider: ofPerson({
    ...nothing,
    request: () => ({ body: { name: 'New', baseUrl: 'https://api.example.org/v1', apiKey: 'sk-new' } }),
    own: 201,
  }),
  patchUserProvider: ofPerson({
    request: ({ records }) => ({ body: { id: records.personProvider, name: 'Renamed' } }),
    own: 200,
    ids: { 'body.id': { names: 'provider' } },
  }),
  deleteUserProvider: ofPerson({
    request: ({ records }) => ({ query: { id: records.personProvider } }),
    own: 200,
    ids: { 'query.id': { names: 'provider' } },
  }),
  postUserProviderTest: ofPerson({
    request: ({ records }) => ({ body: { id: records.personProvider } }),
    own: 200,
    ids: { 'body.id': { names: 'provider' } },
  }),
  postUserModel: ofPerson({
    request: ({ records }) => ({
      body: { ...modelFields, providerId: records.personProvider, providerModelId: 'echo' },
    }),
    own: 201,
    ids: { 'body.providerId': { names: 'provider' }, 'body.providerModelId': { names: 'text' } },
  }),
  patchUserModel: ofPerson({
    request: ({ records }) => ({
      body: { id: records.personModel, displayName: 'Renamed', providerModelId: 'echo' },
    }),
    own: 200,
    ids: { 'body.id': { names: 'model' }, 'body.providerModelId': { names: 'text' } },
  }),
  deleteUserModel: ofPerson({
    request: ({ records }) => ({ query: { id: records.personModel } }),
    own: 200,
    ids: { 'query.id': { names: 'model' } },
  }),
  getUserModelTiers: ofPerson(nothing),
  putUserModelTiers: ofPerson({
    ...nothing,
    request: () => ({ body: { tiers: [{ value: 1, label: 'Only' }] } }),
  }),

  getAdminConfig: nothing,
  postAdminConfig: {
    ...nothing,
    request: () => ({ body: { branding: { tagline: 'Ours' }, oidc: { label: 'Company', clientId: 'chat' } } }),
    ids: { 'body.oidc.clientId': { names: 'text' } },
  },
  postOidcTest: {
    ...nothing,
    request: () => ({ body: { oidc: { clientId: 'chat' } } }),
    ids: { 'body.oidc.clientId': { names: 'text' } },
  },
  // No identity provider is configured here.
  postSignInSocial: { ...nothing, request: () => ({ body: { provider: 'sso' } }), own: 404 },
  getOidcCallback: { ...nothing, request: () => ({ params: { providerKey: 'sso' } }), own: 302 },
  getMcpServers: {
    ...nothing,
    ids: { 'query.id': { names: 'mcpServer' } },
    withIds: { 'without MCP rights': 'mcp_settings_disabled' },
  },
  postMcpServer: { ...nothing, request: () => ({ body: newMcpServer }), own: 201 },
  patchMcpServer: {
    request: ({ records }) => ({ body: { id: records.mcpServer, name: 'Renamed' } }),
    own: 200,
    ids: { 'body.id': { names: 'mcpServer' } },
  },
  deleteMcpServer: {
    request: ({ records }) => ({ query: { id: records.mcpServer } }),
    own: 200,
    ids: { 'query.id': { names: 'mcpServer' } },
  },
  postMcpTest: ofMcpServer,
  postMcpTrust: ofMcpServer,
  getUserMcpServers: {
    request: ({ id }) => ({ query: { userId: id } }),
    own: 200,
    ids: { 'query.userId': { names: 'person' }, 'query.id': { names: 'mcpServer' } },
  },
  postUserMcpServer: {
    request: ({ id }) => ({ query: { userId: id }, body: newMcpServer }),
    own: 201,
    ids: { 'query.userId': { names: 'person' } },
  },
  patchUserMcpServer: {
    request: ({ id, records }) => ({ query: { userId: id }, body: { id: records.mcpServer, name: 'Renamed' } }),
    own: 200,
    ids: { 'query.userId': { names: 'person' }, 'body.id': { names: 'mcpServer' } },
  },
  deleteUserMcpServer: {
    request: ({ id, records }) => ({ query: { userId: id, id: records.mcpServer } }),
    own: 200,
    ids: { 'query.userId': { names: 'person' }, 'query.id': { names: 'mcpServer' } },
  },
  postUserMcpTest: ofUserMcpServer,
  postUserMcpTrust: ofUserMcpServer,
  getProjects: nothing,
  postProject: { request: () => ({ body: { name: 'New' } }), own: 201, ids: {} },
  patchProject: {
    request: ({ records }) => ({ body: { id: records.project, name: 'Renamed' } }),
    own: 200,
    ids: { 'body.id': { names: 'project', openTo: 'administrator' } },
  },
  postProjectMember: {
    request: ({ records, email }) => ({ body: { projectId: records.project, email, role: 'owner' } }),
    own: 200,
    ids: { 'body.projectId': { names: 'project' } },
  },
  deleteProjectMember: {
    request: ({ records }) => ({ query: { projectId: records.project, userId: records.member } }),
    own: 200,
    ids: { 'query.projectId': { names: 'project' }, 'query.userId': { names: 'member' } },
  },
  // What a manifest names is the installation's, and an administrator's to name; ids in use: provision.test.ts.
  postProvision: {
    ...{ request: () => ({ body: { version: 1 } }), own: 200 },
    ids: {
      'body.oidc.clientId': { names: 'text' },
      'body.conversations.*.id': { names: 'text' },
      'body.conversations.*.messages.*.id': { names: 'text' },
      'body.providers.*.models.*.providerModelId': { names: 'text' },
      'body.users.*.providers.*.models.*.providerModelId': { names: 'text' },
    },
  },
  postChatApproval: {
    request: ({ records }) => ({
      params: { chatId: records.askedChat },
      body: { approvalId: records.approval, approved: false },
    }),
    own: 200,
    ids: { 'params.chatId': { names: 'askedChat' }, 'body.approvalId': { names: 'approval' } },
  },
};

/** Rows whose handlers are being built: the matrix leaves them out. */
export const beingBuilt: readonly EndpointName[] = [];
