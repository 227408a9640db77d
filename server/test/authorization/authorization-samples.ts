import { randomUUIDv7 } from 'node:crypto';
import type { EndpointName } from '@homeport/contracts/endpoints';
import { modelFields, nothing, type Sample, sharedByName } from './authorization-sample.ts';
import { administrationSamples } from './authorization-samples-admin.ts';
import { assistantSamples } from './authorization-samples-assistants.ts';
import { operationSamples } from './authorization-samples-operations.ts';
import { sharingSamples } from './authorization-samples-sharing.ts';
import { workspaceSamples } from './authorization-samples-workspace.ts';
import { actorPassword } from './authorization-world.ts';

/** A valid request of every endpoint about the caller's own records, and what each id in it names. */

const messageOf = (id: string) => ({ id, parts: [{ type: 'text', text: 'Hello' }] });
const submission: Sample['request'] = ({ records }) => ({
  body: {
    chatId: records.chat,
    message: messageOf(randomUUIDv7()),
    parentId: records.answer,
    modelId: records.model,
    mcpServerIds: [],
  },
});
const submissionIds: Sample['ids'] = {
  'body.chatId': { names: 'chat' },
  'body.message.id': { names: 'new', taken: 'input_conflict', takenBy: 'message' },
  'body.parentId': { names: 'message' },
  'body.modelId': { names: 'model' },
  'body.mcpServerIds.*': { names: 'mcpServer' },
};

const artifactSample: Sample = {
  request: ({ records }) => ({ query: { chatId: records.chat, id: records.artifact } }),
  own: 200,
  ids: {
    'query.chatId': { names: 'chat' },
    'query.projectId': { names: 'project', request: ({ records }) => ({ query: { id: records.artifact } }) },
    'query.assistantId': { names: 'assistant', request: ({ records }) => ({ query: { id: records.artifact } }) },
    'query.id': { names: 'artifact' },
  },
};

/** A new row of the endpoint table does not compile until it says here how it is called. */
const takenBack = {
  request: ({ records }) => ({ body: { chatId: records.chat, messageId: records.answer } }),
  own: 200,
  ids: { 'body.chatId': { names: 'chat' }, 'body.messageId': { names: 'message' } },
} satisfies Sample;

export const samples: Record<EndpointName, Sample> = {
  getHealth: nothing,
  getLive: nothing,
  getLiveStream: nothing,
  getPublicConfig: nothing,
  getMaintenance: nothing,
  getOpenapi: nothing,
  getDocs: nothing,
  getDocsAsset: { ...nothing, request: () => ({ params: { file: 'initializer.js' } }) },
  getSetup: nothing,
  // There are users, so setup is closed to every caller.
  postSetup: {
    ...nothing,
    request: () => ({ body: { name: 'Eve', email: 'eve@example.org', password: actorPassword } }),
    own: 409,
  },
  postSignIn: {
    ...nothing,
    request: ({ email }) => ({ body: { email, password: actorPassword } }),
    others: { disabled: 403, 'workspace of a disabled account': 403 },
  },
  postSignOut: nothing,
  getAuthSession: { ...nothing, others: { disabled: 403 } },
  postChangePassword: {
    ...nothing,
    request: () => ({ body: { currentPassword: actorPassword, newPassword: 'another horse 2' } }),
  },
  getMe: nothing,
  getAdministrators: nothing,
  patchMe: { ...nothing, request: () => ({ body: { name: 'New Name' } }) },
  getPersonalization: nothing,
  patchPersonalization: { ...nothing, request: () => ({ body: { instructions: 'Be brief.' } }) },
  getIdentities: nothing,
  // No identity provider is configured here.
  postIdentityLink: { ...nothing, own: 404 },
  deleteIdentity: {
    request: ({ records }) => ({ query: { id: records.identity } }),
    own: 200,
    ids: { 'query.id': { names: 'identity' } },
  },
  getMyTokens: nothing,
  postMyToken: {
    request: () => ({ body: { name: 'Script', scopes: ['models'], expiresAt: null } }),
    own: 201,
    ids: {},
  },
  deleteMyToken: {
    request: ({ records }) => ({ query: { id: records.token } }),
    own: 200,
    ids: { 'query.id': { names: 'token' } },
  },
  getAdminTokens: nothing,
  // Of any user: an administrator's own is one of them.
  deleteAdminToken: {
    request: ({ records }) => ({ query: { id: records.token } }),
    own: 200,
    ids: { 'query.id': { names: 'token', openTo: 'administrator' } },
  },
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
    ids: sharedByName,
  },
  patchProvider: {
    request: ({ records }) => ({ body: { id: records.provider, name: 'Renamed' } }),
    own: 200,
    ids: { 'body.id': { names: 'provider' }, ...sharedByName },
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
  postFindProviders: nothing,
  postModel: {
    request: ({ records }) => ({ body: { ...modelFields, providerId: records.provider, providerModelId: 'echo' } }),
    own: 201,
    ids: {
      'body.providerId': { names: 'provider' },
      'body.providerModelId': { names: 'text' },
      'body.standIns.*': { names: 'model', uses: true },
    },
  },
  patchModel: {
    request: ({ records }) => ({ body: { id: records.model, displayName: 'Renamed', providerModelId: 'echo' } }),
    own: 200,
    ids: {
      'body.id': { names: 'model' },
      'body.providerModelId': { names: 'text' },
      'body.standIns.*': { names: 'model', uses: true },
    },
  },
  deleteModel: {
    request: ({ records }) => ({ query: { id: records.model } }),
    own: 200,
    ids: { 'query.id': { names: 'model' } },
  },
  deleteModelLessons: {
    request: ({ records }) => ({ query: { id: records.model, about: 'tools' } }),
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
  getChatContext: {
    request: ({ records }) => ({ query: { chatId: records.chat, messageId: records.answer } }),
    own: 200,
    ids: { 'query.chatId': { names: 'chat' }, 'query.messageId': { names: 'message' } },
  },
  postChatCompact: {
    request: ({ records }) => ({ body: { id: records.chat, focus: 'Names' } }),
    own: 202,
    ids: { 'body.id': { names: 'chat' } },
  },
  patchSummary: {
    request: ({ records }) => ({ body: { chatId: records.chat, id: records.summary, text: 'Changed' } }),
    own: 200,
    ids: { 'body.chatId': { names: 'chat' }, 'body.id': { names: 'summary' } },
  },
  deleteSummary: {
    request: ({ records }) => ({ query: { chatId: records.chat, id: records.summary } }),
    own: 200,
    ids: { 'query.chatId': { names: 'chat' }, 'query.id': { names: 'summary' } },
  },
  getChatChanges: {
    request: ({ records }) => ({ query: { chatId: records.chat, messageId: records.answer } }),
    own: 200,
    ids: { 'query.chatId': { names: 'chat' }, 'query.messageId': { names: 'message' } },
  },
  getChatChangesFile: {
    request: ({ records }) => ({
      query: { chatId: records.chat, messageId: records.answer, path: 'a.txt', side: 'after' },
    }),
    own: 404,
    ids: { 'query.chatId': { names: 'chat' }, 'query.messageId': { names: 'message' } },
  },
  postChatChangesUndo: takenBack,
  postChatChangesRedo: takenBack,
  postChat: {
    request: () => ({ body: { id: randomUUIDv7(), title: 'New' } }),
    own: 201,
    ids: {
      'body.id': { names: 'new', taken: 'id_taken', takenBy: 'chat' },
      'body.projectId': { names: 'project' },
      'body.assistantId': { names: 'assistant' },
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
      'body.assistantId': { names: 'assistant' },
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
    ids: {
      'query.chatId': { names: 'chat' },
      'query.projectId': { names: 'project', request: () => ({}) },
      'query.assistantId': { names: 'assistant', request: () => ({}) },
    },
  },
  getArtifactStat: artifactSample,
  getArtifactPreview: artifactSample,
  getArtifactText: artifactSample,
  getArtifactDownload: artifactSample,
  getArtifactVersions: artifactSample,
  postArtifactRestore: {
    request: ({ records }) => ({ body: { chatId: records.chat, id: records.artifact, version: 1 } }),
    own: 200,
    ids: {
      'body.chatId': { names: 'chat' },
      'body.projectId': {
        names: 'project',
        request: ({ records }) => ({ body: { id: records.artifact, version: 1 } }),
      },
      'body.assistantId': {
        names: 'assistant',
        request: ({ records }) => ({ body: { id: records.artifact, version: 1 } }),
      },
      'body.id': { names: 'artifact' },
    },
  },
  postArtifact: {
    request: ({ records }) => ({ form: { chatId: records.chat } }),
    own: 201,
    ids: {
      'form.chatId': { names: 'chat' },
      'form.projectId': { names: 'project', request: () => ({ form: {} }) },
      'form.assistantId': { names: 'assistant', request: () => ({ form: {} }) },
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
      'body.assistantId': {
        names: 'assistant',
        request: ({ records }) => ({ body: { id: records.artifact, to: 'moved/file.txt' } }),
      },
      'body.id': { names: 'artifact' },
    },
  },
  deleteArtifact: artifactSample,
  postArtifactImport: {
    request: ({ records }) => ({
      form: {
        chatId: records.chat,
        artifactId: randomUUIDv7(),
        importSource: randomUUIDv7(),
        path: 'imported.txt',
      },
    }),
    own: 201,
    ids: {
      // An administrator imports into any user's: artifacts-import.test.ts.
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
  patchTurnInput: {
    request: ({ records }) => ({ body: { chatId: records.chat, id: records.input, steer: true } }),
    own: 200,
    ids: { 'body.chatId': { names: 'chat' }, 'body.id': { names: 'input' } },
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
  getChatActivity: nothing,
  postChatStop: {
    request: ({ records }) => ({ params: { chatId: records.chat }, body: {} }),
    own: 200,
    ids: {
      'params.chatId': { names: 'chat' },
      'body.assistantId': { names: 'answer', unknown: 200 },
    },
  },

  postChatAnswers: {
    request: ({ records }) => ({
      params: { chatId: records.askedChat },
      body: { questionId: records.question, answers: ['Yes'] },
    }),
    own: 200,
    ids: { 'params.chatId': { names: 'askedChat' }, 'body.questionId': { names: 'question' } },
  },

  ...sharingSamples,
  ...administrationSamples,
  ...workspaceSamples,
  ...assistantSamples,
  ...operationSamples,
  getPeople: nothing,
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
  postChatApproval: {
    request: ({ records }) => ({
      params: { chatId: records.askedChat },
      body: { approvalId: records.approval, approved: false },
    }),
    own: 200,
    ids: { 'params.chatId': { names: 'askedChat' }, 'body.approvalId': { names: 'approval' } },
  },
};
