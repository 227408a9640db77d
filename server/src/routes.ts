import { type Endpoints, endpoints } from '@homeport/contracts/endpoints';
import {
  deleteInvitation,
  getAudit,
  getInvitations,
  getInviter,
  patchAdminUser,
  postAdminUser,
  postInvitation,
  putInvitation,
} from './accounts/admin-handlers.ts';
import {
  deleteMySessions,
  getAdministrators,
  getAuthSession,
  getMe,
  getMySessions,
  getPersonalization,
  getSetup,
  patchMe,
  patchPersonalization,
  postChangePassword,
  postSetup,
  postSignIn,
  postSignOut,
} from './accounts/handlers.ts';
import {
  deleteIdentity,
  getIdentities,
  getOidcCallback,
  postIdentityLink,
  postSignInSocial,
} from './accounts/oidc/handlers.ts';
import {
  deleteAdminToken,
  deleteMyToken,
  getAdminTokens,
  getMyTokens,
  postMyToken,
} from './accounts/tokens/handlers.ts';
import { getAdminUsers, getOverview } from './administration/handlers.ts';
import {
  deleteArtifact,
  getArtifactDownload,
  getArtifactPreview,
  getArtifactStat,
  getArtifacts,
  getArtifactVersions,
  patchArtifact,
  postArtifact,
  postArtifactImport,
  postArtifactRestore,
} from './artifacts/handlers.ts';
import {
  deleteAssistant,
  deletePrompt,
  getAssistants,
  getAssistantVersions,
  getPrompts,
  patchAssistant,
  patchPrompt,
  postAssistant,
  postPrompt,
  postPromptUsed,
} from './assistants/handlers.ts';
import {
  deleteSkill,
  getSkillFiles,
  getSkills,
  patchShippedSkill,
  patchSkill,
  postSkill,
  postSkillFromWorkspace,
  postSkillTrust,
} from './assistants/skill-handlers.ts';
import {
  deleteModel,
  deleteModelLessons,
  deleteProvider,
  getModelTiers,
  getProviders,
  patchModel,
  patchProvider,
  postFindProviders,
  postModel,
  postProvider,
  postProviderTest,
  putModelTiers,
} from './catalogue/handlers.ts';
import { deleteModelRegistry, getModelRegistry, putModelRegistry } from './catalogue/registry-handlers.ts';
import {
  getChatChanges,
  getChatChangesFile,
  postChatChangesRedo,
  postChatChangesUndo,
} from './chat/change-handlers.ts';
import {
  deleteChat,
  deleteSummary,
  deleteTurnInput,
  getChatActivity,
  getChatStream,
  getTurnInputs,
  patchChat,
  patchSummary,
  patchTurnInput,
  postChatAnswers,
  postChatApproval,
  postChatCompact,
  postChatResponse,
  postChatStart,
  postChatStop,
  postTurnInput,
} from './chat/handlers.ts';
import { getBackups, getDoctor, postBackup } from './commands/handlers.ts';
import { deleteProjectMember, exportChat, getChatContext, getChats, postChat } from './conversations/handlers.ts';
import { pingDatabase } from './db/pool.ts';
import type { Deps } from './deps.ts';
import { getArtifactText } from './documents/handlers.ts';
import { deleteAdminUser, deleteMe, getMyExport } from './exports/account-handlers.ts';
import { type Handler, Reply } from './http/handler.ts';
import { openapiDocument } from './http/openapi.ts';
import { docsAsset, docsPage } from './http/pages/docs.ts';
import { findIgnoredProxy } from './http/proxy-watch.ts';
import { streamPieces } from './http/stream-chunks.ts';
import { deleteImport, getImports, postImport, postImportStart } from './imports/handlers.ts';
import { getMcpPrompts, getMcpResources, postMcpPrompt, postMcpResource } from './mcp/content-handlers.ts';
import {
  deleteMcpServer,
  deleteMcpTrust,
  deleteUserMcpServer,
  getMcpServers,
  getUserMcpServers,
  patchMcpServer,
  patchUserMcpServer,
  postMcpServer,
  postMcpTest,
  postMcpTrust,
  postUserMcpServer,
  postUserMcpTest,
  postUserMcpTrust,
} from './mcp/handlers.ts';
import { deleteMcpConnect, getMcpCallback, getMcpClient, postMcpConnect } from './mcp/oauth/handlers.ts';
import {
  deleteAdminMcpOffer,
  deleteAdminMcpOfferTrust,
  getAdminMcpOffers,
  getMcpOffers,
  patchAdminMcpOffer,
  postAdminMcpOffer,
  postAdminMcpOfferTrust,
} from './mcp/offer-handlers.ts';
import { ignoredProxyHeader, trustedProxies } from './platform/client-address.ts';
import { programRoutes } from './program-routes.ts';
import { getPeople, getProjects, patchProject, postProject, postProjectMember } from './projects/handlers.ts';
import { postProvision } from './provision/handlers.ts';
import {
  getAdminConfig,
  getMaintenance,
  getOperationSettings,
  getPublicConfig,
  patchOperationSettings,
  postAdminConfig,
  postOidcTest,
} from './settings/handlers.ts';
import {
  deleteAdminShare,
  deleteShare,
  getAdminShares,
  getShareFile,
  getShares,
  patchShare,
  postShare,
  postShareCopy,
  postShareOpen,
  postShareUpdate,
} from './sharing/handlers.ts';
import { getAdminUsage, getBudgets, getMyUsage, postBudgetsPreview, putBudgets } from './usage/handlers.ts';
import {
  getChatSources,
  getMyWebSearch,
  getWebSearch,
  postMyWebSearchTest,
  postWebSearchTest,
  putMyWebSearch,
  putWebSearch,
} from './web-search/handlers.ts';

/** The health probe answers within this many milliseconds, even if the database does not. */
const healthTimeoutMs = 1_500;

/** Built once: it takes tens of milliseconds, and anybody may request it. */
let description: ReturnType<typeof openapiDocument> | undefined;

/** EVERY endpoint, one line each: the contract's row and its handler. */
export const routes: { [Name in keyof Endpoints]: Handler<Deps, Endpoints[Name]> } = {
  getHealth: async ({ db, door }) => {
    const isReachable = pingDatabase(db, healthTimeoutMs).then(
      () => true,
      () => false,
    );
    return !door.isDraining && (await isReachable) ? { ok: true } : new Reply({ ok: false }, { status: 503 });
  },
  getLive: ({ config }, { request }) => {
    const ignored = findIgnoredProxy(request.outgoing.req, trustedProxies(config.trustedProxies));
    const headers: [string, string][] = ignored === undefined ? [] : [[ignoredProxyHeader, ignored.header]];
    return new Reply({ ok: true, version: config.version }, { headers });
  },
  getLiveStream: (_deps, { request }) => streamPieces(request),
  getPublicConfig,
  getMaintenance,
  getOpenapi: ({ config }) => {
    description ??= openapiDocument(endpoints, {
      version: config.version,
      isSecure: config.baseUrl?.startsWith('https://') === true,
    });
    return description;
  },
  getDocs: () => docsPage(),
  getDocsAsset: (_deps, { params }) => docsAsset(params.file),

  getSetup,
  postSetup,
  postSignIn,
  postSignOut,
  getAuthSession,
  postSignInSocial,
  getOidcCallback,
  postChangePassword,
  getMe,
  getAdministrators,
  patchMe,
  getPersonalization,
  patchPersonalization,
  getIdentities,
  postIdentityLink,
  deleteIdentity,
  getMySessions,
  deleteMySessions,
  getMyTokens,
  postMyToken,
  deleteMyToken,
  getAdminTokens,
  deleteAdminToken,

  getOverview,
  getBackups,
  postBackup,
  getDoctor,
  getAdminConfig,
  postAdminConfig,
  getOperationSettings,
  patchOperationSettings,
  postOidcTest,

  getProviders,
  postProvider,
  patchProvider,
  deleteProvider,
  postFindProviders,
  postProviderTest,
  postModel,
  patchModel,
  deleteModel,
  deleteModelLessons,
  getModelTiers,
  putModelTiers,
  getModelRegistry,
  putModelRegistry,
  deleteModelRegistry,
  getUserProviders: getProviders,
  postUserProvider: postProvider,
  patchUserProvider: patchProvider,
  deleteUserProvider: deleteProvider,
  postUserProviderTest: postProviderTest,
  postUserModel: postModel,
  patchUserModel: patchModel,
  deleteUserModel: deleteModel,
  getUserModelTiers: getModelTiers,
  putUserModelTiers: putModelTiers,

  getChats,
  postChat,
  patchChat,
  deleteChat,
  exportChat,
  getChatContext,
  postChatCompact,
  patchSummary,
  deleteSummary,
  getChatChanges,
  getChatChangesFile,
  postChatChangesUndo,
  postChatChangesRedo,

  postChatStart,
  postTurnInput,
  getTurnInputs,
  patchTurnInput,
  deleteTurnInput,
  postChatResponse,
  getChatStream,
  getChatActivity,
  postChatStop,

  getAdminUsers,
  postAdminUser,
  patchAdminUser,
  getInvitations,
  getInviter,
  postInvitation,
  putInvitation,
  deleteInvitation,
  getAudit,

  getMyUsage,
  getAdminUsage,
  getBudgets,
  putBudgets,
  postBudgetsPreview,
  getWebSearch,
  putWebSearch,
  postWebSearchTest,
  getMyWebSearch,
  putMyWebSearch,
  postMyWebSearchTest,
  getChatSources,

  getMcpServers,
  postMcpServer,
  patchMcpServer,
  deleteMcpServer,
  postMcpTest,
  postMcpTrust,
  deleteMcpTrust,
  postMcpConnect,
  deleteMcpConnect,
  getMcpCallback,
  getMcpClient,
  getMcpResources,
  postMcpResource,
  getMcpPrompts,
  postMcpPrompt,
  getUserMcpServers,
  postUserMcpServer,
  patchUserMcpServer,
  deleteUserMcpServer,
  postUserMcpTest,
  postUserMcpTrust,
  getMcpOffers,
  getAdminMcpOffers,
  postAdminMcpOffer,
  patchAdminMcpOffer,
  deleteAdminMcpOffer,
  postAdminMcpOfferTrust,
  deleteAdminMcpOfferTrust,
  getPeople,
  getProjects,
  postProject,
  patchProject,
  postProjectMember,
  deleteProjectMember,
  getAssistants,
  postAssistant,
  patchAssistant,
  deleteAssistant,
  getAssistantVersions,
  getPrompts,
  postPrompt,
  patchPrompt,
  deletePrompt,
  postPromptUsed,
  getSkills,
  postSkill,
  postSkillFromWorkspace,
  patchSkill,
  patchShippedSkill,
  deleteSkill,
  getSkillFiles,
  postSkillTrust,
  getArtifacts,
  getArtifactStat,
  getArtifactPreview,
  getArtifactText,
  getArtifactDownload,
  getArtifactVersions,
  postArtifactRestore,
  postArtifact,
  patchArtifact,
  deleteArtifact,
  postArtifactImport,
  getShares,
  postShare,
  patchShare,
  deleteShare,
  postShareUpdate,
  postShareOpen,
  postShareCopy,
  getShareFile,
  getAdminShares,
  deleteAdminShare,
  postProvision,
  postImport,
  getImports,
  postImportStart,
  deleteImport,
  getMyExport,
  deleteMe,
  deleteAdminUser,
  postChatApproval,
  postChatAnswers,

  ...programRoutes,
};
