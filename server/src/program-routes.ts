import type { Endpoints } from '@homeport/contracts/endpoints';
import {
  deleteInternalArtifact,
  getInternalArtifactDownload,
  getInternalArtifactPreview,
  getInternalArtifactStat,
  getInternalArtifacts,
  patchInternalArtifact,
  putInternalArtifact,
} from './artifacts/internal-handlers.ts';
import {
  getGatewayModel,
  getGatewayModels,
  postChatCompletion,
  postCountTokens,
  postEmbeddings,
  postGatewayMessage,
  postGatewayResponse,
} from './chat/gateway/handlers.ts';
import { deleteGatewayResponse, getGatewayResponse, postGatewayResponseCancel } from './chat/gateway/kept-handlers.ts';
import { getInternalModels, postInternalCompletion } from './chat/program-handlers.ts';
import { getWorkspaceRules, putWorkspaceRules } from './chat/rule-handlers.ts';
import { getInternalConversations } from './conversations/internal-handlers.ts';
import type { Deps } from './deps.ts';
import type { Handler } from './http/handler.ts';
import {
  deleteWorkspaceFile,
  getWorkspaceDownload,
  getWorkspaceFiles,
  patchWorkspaceFile,
  postWorkspaceFile,
  postWorkspaceFolder,
} from './workspaces/file-handlers.ts';
import {
  deleteWorkspaceStatus,
  getWorkspaceStatus,
  getWorkspaceUsage,
  postWorkspaceStatus,
} from './workspaces/handlers.ts';
import { getWorkspacePorts, postWorkspacePreview } from './workspaces/previews/preview-handlers.ts';
import {
  deleteWorkspaceProcess,
  getWorkspaceProcesses,
  getWorkspaceProcessOutput,
} from './workspaces/process-handlers.ts';

/** The endpoints of workspaces and of programs: the gateway at /v1, and the service for programs inside a workspace. */
export const programRoutes = {
  getWorkspaceStatus,
  getWorkspaceUsage,
  postWorkspaceStatus,
  deleteWorkspaceStatus,
  getWorkspaceRules,
  putWorkspaceRules,
  getGatewayModels,
  getGatewayModel,
  postChatCompletion,
  postGatewayResponse,
  getGatewayResponse,
  deleteGatewayResponse,
  postGatewayResponseCancel,
  postGatewayMessage,
  postCountTokens,
  postEmbeddings,
  getInternalModels,
  postInternalCompletion,
  getWorkspaceFiles,
  postWorkspaceFile,
  patchWorkspaceFile,
  postWorkspaceFolder,
  deleteWorkspaceFile,
  getWorkspaceDownload,
  getWorkspacePorts,
  getWorkspaceProcesses,
  getWorkspaceProcessOutput,
  deleteWorkspaceProcess,
  postWorkspacePreview,
  getInternalConversations,
  getInternalArtifacts,
  getInternalArtifactStat,
  getInternalArtifactPreview,
  getInternalArtifactDownload,
  putInternalArtifact,
  patchInternalArtifact,
  deleteInternalArtifact,
} satisfies { [Name in keyof Endpoints]?: Handler<Deps, Endpoints[Name]> };
