import { randomUUIDv7 } from 'node:crypto';
import type { EndpointName } from '@homeport/contracts/endpoints';
import { type IdRule, modelFields, nothing, type Sample, sharedByName } from './authorization-sample.ts';
import { actorPassword } from './authorization-world.ts';

/** Samples of administrators' endpoints, of single sign-on, and of MCP servers, the caller's own and another user's. */

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

/** A service at a port where nothing answers. */
const webSearch = { kind: 'searxng', baseUrl: 'http://127.0.0.1:9', apiKey: 'a-key', askAfterReading: 'on' };

const person = { names: 'person' } satisfies IdRule;

/** An administrator's request about `records.person`. */
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

export const administrationSamples = {
  getAdminUsers: nothing,
  postAdminUser: {
    ...nothing,
    request: () => ({ body: { name: 'New', email: `${randomUUIDv7()}@example.org`, password: actorPassword } }),
    own: 201,
  },
  patchAdminUser: {
    request: ({ records }) => ({ body: { id: records.person, name: 'Renamed' } }),
    own: 200,
    ids: {
      'body.id': person,
      'body.ids.*': {
        names: 'person',
        request: ({ records }) => ({ body: { ids: [records.person], mcpSettingsEnabled: true } }),
      },
    },
  },
  getModelRegistry: nothing,
  putModelRegistry: {
    ...nothing,
    request: () => ({ body: { source: 'a test', providers: {} } }),
  },
  deleteModelRegistry: nothing,
  getInvitations: nothing,
  getInviter: { request: () => ({ query: { token: 'x'.repeat(43) } }), own: 404, ids: {} },
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
  getMyUsage: nothing,
  getAdminUsage: { ...nothing, request: () => ({ query: { by: 'person', format: 'csv' } }) },
  getBudgets: nothing,
  // Without a limit, so that no other caller here is refused a response.
  putBudgets: {
    request: ({ records }) => ({
      body: { budgets: [{ scope: 'person', userId: records.person, unit: 'tokens', period: 'day', limit: null }] },
    }),
    own: 200,
    ids: { 'body.budgets.*.userId': person },
  },
  postBudgetsPreview: {
    request: ({ records }) => ({
      body: { budgets: [{ scope: 'person', userId: records.person, unit: 'tokens', period: 'day', limit: 0 }] },
    }),
    own: 200,
    ids: { 'body.budgets.*.userId': person },
  },
  getWebSearch: nothing,
  putWebSearch: { ...nothing, request: () => ({ body: webSearch }) },
  postWebSearchTest: { ...nothing, request: () => ({ body: webSearch }), own: 502 },
  getMyWebSearch: nothing,
  putMyWebSearch: { ...nothing, request: () => ({ body: webSearch }) },
  postMyWebSearchTest: { ...nothing, request: () => ({ body: webSearch }), own: 502 },
  getChatSources: {
    request: ({ records }) => ({ query: { chatId: records.chat, messageId: records.answer } }),
    own: 200,
    ids: { 'query.chatId': { names: 'chat' }, 'query.messageId': { names: 'message' } },
  },

  getUserProviders: ofPerson(nothing),
  postUserProvider: ofPerson({
    ...nothing,
    request: () => ({ body: { name: 'New', baseUrl: 'https://api.example.org/v1', apiKey: 'sk-new' } }),
    own: 201,
    ids: sharedByName,
  }),
  patchUserProvider: ofPerson({
    request: ({ records }) => ({ body: { id: records.personProvider, name: 'Renamed' } }),
    own: 200,
    ids: { 'body.id': { names: 'provider' }, ...sharedByName },
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
    ids: {
      'body.providerId': { names: 'provider' },
      'body.providerModelId': { names: 'text' },
      'body.standIns.*': { names: 'model', uses: true },
    },
  }),
  patchUserModel: ofPerson({
    request: ({ records }) => ({
      body: { id: records.personModel, displayName: 'Renamed', providerModelId: 'echo' },
    }),
    own: 200,
    ids: {
      'body.id': { names: 'model' },
      'body.providerModelId': { names: 'text' },
      'body.standIns.*': { names: 'model', uses: true },
    },
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

  getOverview: nothing,
  getBackups: nothing,
  getOperationSettings: nothing,
  patchOperationSettings: { ...nothing, request: () => ({ body: { backupKeep: 3 } }), ids: {} },
  postBackup: { ...nothing, request: () => ({ body: {} }), own: 202 },
  getDoctor: nothing,
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
  postSignInSocial: { ...nothing, request: () => ({ body: { provider: 'sso' } }), own: 404, ids: {} },
  getOidcCallback: { ...nothing, request: () => ({ params: { providerKey: 'sso' } }), own: 302 },
  getMcpServers: {
    ...nothing,
    ids: { 'query.id': { names: 'mcpServer' } },
    withIds: { 'without MCP rights': 'mcp_settings_disabled' },
  },
  postMcpServer: {
    request: () => ({ body: newMcpServer }),
    own: 201,
    ids: {
      'body.clientId': { names: 'text' },
      'body.offerId': { names: 'offer', request: () => ({ body: { name: 'New' } }) },
    },
  },
  patchMcpServer: {
    request: ({ records }) => ({ body: { id: records.mcpServer, name: 'Renamed' } }),
    own: 200,
    ids: { 'body.id': { names: 'mcpServer' }, 'body.clientId': { names: 'text' } },
  },
  deleteMcpServer: {
    request: ({ records }) => ({ query: { id: records.mcpServer } }),
    own: 200,
    ids: { 'query.id': { names: 'mcpServer' } },
  },
  postMcpTest: ofMcpServer,
  // These servers have no sign-in.
  postMcpConnect: { ...ofMcpServer, own: 502 },
  deleteMcpConnect: {
    request: ({ records }) => ({ query: { id: records.mcpServer } }),
    own: 200,
    ids: { 'query.id': { names: 'mcpServer' } },
  },
  deleteMcpTrust: {
    request: ({ records }) => ({ query: { id: records.mcpServer } }),
    own: 200,
    ids: { 'query.id': { names: 'mcpServer' } },
  },
  getMcpCallback: { ...nothing, own: 302 },
  getMcpClient: nothing,
  postMcpTrust: ofMcpServer,
  getUserMcpServers: {
    request: ({ id }) => ({ query: { userId: id } }),
    own: 200,
    ids: { 'query.userId': { names: 'person' }, 'query.id': { names: 'mcpServer' } },
  },
  postUserMcpServer: {
    request: ({ id }) => ({ query: { userId: id }, body: newMcpServer }),
    own: 201,
    ids: {
      'query.userId': { names: 'person' },
      'body.clientId': { names: 'text' },
      'body.offerId': { names: 'offer', request: ({ id }) => ({ query: { userId: id }, body: { name: 'New' } }) },
    },
  },
  patchUserMcpServer: {
    request: ({ id, records }) => ({ query: { userId: id }, body: { id: records.mcpServer, name: 'Renamed' } }),
    own: 200,
    ids: {
      'query.userId': { names: 'person' },
      'body.id': { names: 'mcpServer' },
      'body.clientId': { names: 'text' },
    },
  },
  deleteUserMcpServer: {
    request: ({ id, records }) => ({ query: { userId: id, id: records.mcpServer } }),
    own: 200,
    ids: { 'query.userId': { names: 'person' }, 'query.id': { names: 'mcpServer' } },
  },
  postUserMcpTest: ofUserMcpServer,
  postUserMcpTrust: ofUserMcpServer,
  // These servers are not trusted.
  getMcpResources: {
    request: ({ records }) => ({ query: { id: records.mcpServer } }),
    own: 409,
    ids: { 'query.id': { names: 'mcpServer' } },
  },
  postMcpResource: {
    request: ({ records }) => ({ body: { id: records.mcpServer, uri: 'notes://1' } }),
    own: 409,
    ids: { 'body.id': { names: 'mcpServer' } },
  },
  getMcpPrompts: nothing,
  postMcpPrompt: {
    request: ({ records }) => ({ body: { id: records.mcpServer, name: 'greet' } }),
    own: 409,
    ids: { 'body.id': { names: 'mcpServer' } },
  },
  getMcpOffers: nothing,
  getAdminMcpOffers: nothing,
  postAdminMcpOffer: {
    request: () => ({ body: { name: randomUUIDv7(), url: 'https://mcp.example.org/mcp' } }),
    own: 201,
    ids: { 'body.clientId': { names: 'text' } },
  },
  patchAdminMcpOffer: {
    request: ({ records }) => ({ body: { id: records.mcpOffer, description: 'For the harbour' } }),
    own: 200,
    ids: { 'body.id': { names: 'offer' }, 'body.clientId': { names: 'text' } },
  },
  deleteAdminMcpOffer: {
    request: ({ records }) => ({ query: { id: records.mcpOffer } }),
    own: 200,
    ids: { 'query.id': { names: 'offer' } },
  },
  // The administrator has not added this offer.
  postAdminMcpOfferTrust: {
    request: ({ records }) => ({ body: { id: records.mcpOffer, fingerprint: 'none' } }),
    own: 400,
    ids: { 'body.id': { names: 'offer' } },
  },
  deleteAdminMcpOfferTrust: {
    request: ({ records }) => ({ query: { id: records.mcpOffer } }),
    own: 200,
    ids: { 'query.id': { names: 'offer' } },
  },
  // A manifest names the installation's records, which administrators can access; ids in use: provision.test.ts.
  postProvision: {
    request: () => ({ body: { version: 1 } }),
    own: 200,
    ids: {
      'body.mcpOffers.*.clientId': { names: 'text' },
      'body.oidc.clientId': { names: 'text' },
      'body.assistants.*.model.providerModelId': { names: 'text' },
      'body.conversations.*.id': { names: 'text' },
      'body.conversations.*.messages.*.id': { names: 'text' },
      'body.providers.*.models.*.providerModelId': { names: 'text' },
      'body.providers.*.models.*.standIns.*.providerModelId': { names: 'text' },
      'body.users.*.providers.*.models.*.providerModelId': { names: 'text' },
      'body.users.*.providers.*.models.*.standIns.*.providerModelId': { names: 'text' },
    },
  },
} satisfies Partial<Record<EndpointName, Sample>>;
