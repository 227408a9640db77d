import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import * as fields from '../fields.ts';
import { artifact, mediaTypeField, artifactPath as path } from '../files/artifacts.ts';
import { limits } from '../limits.ts';
import {
  portNumber,
  processState,
  workspaceFile,
  workspaceFolder,
  workspaceListing,
  workspacePorts,
} from './daemon.ts';

/** Workspaces for their owners, and the endpoints of the command-line tool inside them (contract.md section 8). */

const workspacePhase = z.enum(['running', 'starting', 'stopped', 'disabled']);
const workspaceMode = z.enum(['local', 'docker', 'kubernetes', 'disabled']);
export type WorkspaceMode = z.infer<typeof workspaceMode>;

const workspaceStatus = z.object({
  phase: workspacePhase,
  /** True if files, shell and tools are available immediately. */
  ready: z.boolean(),
  mode: workspaceMode,
  /** For people: why it takes long, why the last start failed, or why workspaces are off. */
  message: z.string().optional(),
});
export type WorkspaceStatus = z.infer<typeof workspaceStatus>;

/** The status with the facts that a running workspace adds. */
const workspaceUsage = workspaceStatus.extend({
  startedAt: fields.timestamp.optional(),
  /** Time at which an unused workspace is stopped. */
  idleStopAt: fields.timestamp.optional(),
  usage: z
    .object({
      memoryBytes: z.number().int(),
      memoryLimitBytes: z.number().int().nullable(),
      processes: z.number().int(),
      /** Space on the disk and the number of files, each with its limit if there is one. */
      homeBytes: z.number().int(),
      homeBytesLimit: z.number().int().nullable(),
      homeFiles: z.number().int(),
      homeFilesLimit: z.number().int().nullable(),
    })
    .optional(),
});
export type WorkspaceUsage = z.infer<typeof workspaceUsage>;

/** A command that a model left running in the background, or that ended in the last five minutes. */
const workspaceProcess = processState.omit({ pid: true, background: true });
export type WorkspaceProcess = z.infer<typeof workspaceProcess>;
const oneProcess = z.object({ id: fields.id });

/** As a person or a model writes it: `~`, `~/notes.txt`, `/home/user/notes.txt`, or relative to the home. */
const workspacePath = z.string().max(limits.workspacePathMax);
/** A path of an app with query and fragment, written as browsers write it. */
export const previewPath = z
  .string()
  .max(limits.previewPathMax)
  .regex(/^\/(?![/\\])[\x21-\x7e]*$/, 'A path of the app, which begins with one slash')
  .refine(isPlainPath, 'A path of the app, without segments of dots');
const starting = ['workspace_disabled', 'workspace_start_timeout', 'workspace_request_failed'] as const;
const reading = ['invalid_path', 'not_found', ...starting] as const;

/** The namespace: `chat:<id>` (for a conversation in a project, the project's) or `project:<id>`. */
const artifactScope = z
  .string()
  .regex(/^(?:chat|project):[A-Za-z0-9_-]{1,128}$/, 'Say chat:<id> or project:<id>')
  .transform((scope): { chatId: string } | { projectId: string } => {
    const id = scope.slice(scope.indexOf(':') + 1);
    return scope.startsWith('chat:') ? { chatId: id } : { projectId: id };
  });
const headers = z.object({ 'x-artifact-scope': artifactScope });
const inScope = ['not_found', 'invalid_path'] as const;
const oneTarget = (given: { id?: string; path?: string }) => (given.id === undefined) !== (given.path === undefined);
const targetMissing = { message: 'Give exactly one of id and path', path: ['id'] };
const target = z.object({ id: fields.id.optional(), path: path.optional() }).refine(oneTarget, targetMissing);
const one = z.object({ artifact });

function isPlainPath(path: string): boolean {
  const url = URL.parse(path, 'http://app');
  return url !== null && url.href === `http://app${path}` && !path.startsWith('/.homeport');
}

export const workspaceEndpoints = {
  getWorkspaceStatus: endpoint({
    method: 'GET',
    path: '/api/workspace/status',
    access: 'session',
    summary: 'Phase, readiness and mode of the own workspace',
    response: workspaceStatus,
  }),
  getWorkspaceUsage: endpoint({
    method: 'GET',
    path: '/api/workspace/usage',
    access: 'session',
    summary:
      'The status of the own workspace with its start, its idle stop, and the memory, processes and space in use',
    response: workspaceUsage,
  }),
  postWorkspaceStatus: endpoint({
    method: 'POST',
    path: '/api/workspace/status',
    access: 'session',
    summary: 'Starts the workspace and waits until it is ready, 90 seconds at most',
    response: workspaceStatus,
    errors: ['workspace_disabled', 'workspace_start_timeout'],
  }),
  deleteWorkspaceStatus: endpoint({
    method: 'DELETE',
    path: '/api/workspace/status',
    access: 'session',
    summary: 'Stops the workspace immediately, even if it is in use; its files stay',
    response: workspaceStatus,
    errors: ['workspace_disabled'],
  }),
  getWorkspaceFiles: endpoint({
    method: 'GET',
    path: '/api/workspace/files',
    access: 'session',
    summary: 'Lists a folder or previews a file (the first 256 KiB) below the home; starts the workspace',
    query: z.object({
      path: workspacePath.optional(),
      limit: fields.pageLimit,
      cursor: z.string().min(1).max(2048).optional(),
    }),
    response: z.union([workspaceListing, workspaceFile]),
    errors: reading,
  }),
  postWorkspaceFile: endpoint({
    method: 'POST',
    path: '/api/workspace/files',
    access: 'session',
    summary: 'Uploads a file (multipart/form-data, part `file`), by default into ~/artifacts',
    form: z.object({ path: workspacePath.min(1).optional() }),
    response: z.object({ file: workspaceFolder.shape.entries.element }),
    status: 201,
    errors: [...reading, 'path_taken', 'storage_full'],
  }),
  patchWorkspaceFile: endpoint({
    method: 'PATCH',
    path: '/api/workspace/files',
    access: 'session',
    summary: 'Moves or renames a file or folder of the workspace',
    body: z.object({ from: workspacePath.min(1), to: workspacePath.min(1) }),
    response: z.object({ file: workspaceFolder.shape.entries.element }),
    errors: [...reading, 'path_taken'],
  }),
  postWorkspaceFolder: endpoint({
    method: 'POST',
    path: '/api/workspace/folders',
    access: 'session',
    summary: 'Makes a folder in the workspace, with the folders above it',
    body: z.object({ path: workspacePath.min(1) }),
    response: z.object({ file: workspaceFolder.shape.entries.element }),
    status: 201,
    errors: [...reading, 'path_taken', 'storage_full'],
  }),
  deleteWorkspaceFile: endpoint({
    method: 'DELETE',
    path: '/api/workspace/files',
    access: 'session',
    summary: 'Deletes a file, or a folder with everything in it',
    query: z.object({ path: workspacePath.min(1) }),
    response: fields.ok,
    errors: reading,
  }),
  getWorkspaceDownload: endpoint({
    method: 'GET',
    path: '/api/workspace/download',
    access: 'session',
    summary: 'The bytes of a file, with Range; a folder as .zip',
    query: z.object({ path: workspacePath.min(1) }),
    response: 'file',
    ranges: true,
    errors: reading,
  }),

  getWorkspacePorts: endpoint({
    method: 'GET',
    path: '/api/workspace/ports',
    access: 'session',
    summary: 'The ports that programs of the own workspace listen on; none, and no start, while it is stopped',
    response: workspacePorts.extend({
      /** Whether they can be opened as previews at the address that this request came to. */
      previews: z.boolean(),
    }),
    errors: ['workspace_request_failed'],
  }),
  getWorkspaceProcesses: endpoint({
    method: 'GET',
    path: '/api/workspace/processes',
    access: 'session',
    summary: 'Background commands of the own workspace, the newest first; none, and no start, while it is stopped',
    response: z.object({ processes: workspaceProcess.array().max(limits.processesShown) }),
    errors: ['workspace_request_failed'],
  }),
  getWorkspaceProcessOutput: endpoint({
    method: 'GET',
    path: '/api/workspace/processes/output',
    access: 'session',
    summary: 'The end of the output of a background command (32 KiB); all of it is in the file at `logPath`',
    query: oneProcess,
    response: z.object({ process: workspaceProcess, output: z.string(), skippedBytes: z.number().int() }),
    errors: ['not_found', 'workspace_request_failed'],
  }),
  deleteWorkspaceProcess: endpoint({
    method: 'DELETE',
    path: '/api/workspace/processes',
    access: 'session',
    summary: 'Ends a background command and everything it started, by force after two seconds',
    query: oneProcess,
    response: z.object({ process: workspaceProcess }),
    errors: ['not_found', 'workspace_request_failed'],
  }),
  postWorkspacePreview: endpoint({
    method: 'POST',
    path: '/api/workspace/previews',
    access: 'session',
    summary: 'An address on the origin of a port, which opens it once within a minute',
    body: z.object({ port: portNumber, path: previewPath.optional() }),
    response: z.object({ url: z.url(), expiresAt: fields.timestamp }),
    status: 201,
    errors: ['workspace_disabled', 'not_found', 'rate_limited'],
  }),

  getInternalConversations: endpoint({
    method: 'GET',
    path: '/api/internal/conversations',
    access: 'workspace',
    summary: "The conversations of the workspace's user: list, overview, one turn or all of it, as Markdown or JSON",
    query: z
      .object({
        chatId: fields.id.optional(),
        /** Of one conversation; `overview` by default. */
        mode: z.enum(['overview', 'turn', 'full']).optional(),
        turn: z
          .string()
          .regex(/^[1-9]\d{0,6}$/, 'A number from 1')
          .transform(Number)
          .optional(),
        format: z.enum(['markdown', 'json']).optional(),
        limit: fields.pageLimit,
        cursor: fields.cursor,
      })
      .refine((query) => query.mode !== 'turn' || query.turn !== undefined, {
        message: 'Say which turn',
        path: ['turn'],
      }),
    response: 'file',
    fileTypes: ['text/markdown', 'application/json'],
    errors: ['not_found'],
  }),
  getInternalArtifacts: endpoint({
    method: 'GET',
    path: '/api/internal/artifacts',
    access: 'workspace',
    summary: 'Lists and searches artifacts of the scope in the header x-artifact-scope',
    headers,
    query: z.object({
      prefix: z.string().max(limits.artifactPathMax).optional(),
      q: z.string().trim().max(limits.searchMax).optional(),
      limit: fields.pageLimit,
      cursor: z.string().min(1).max(2048).optional(),
    }),
    response: z.object({ artifacts: z.array(artifact), nextCursor: z.string().nullable() }),
    errors: inScope,
  }),
  getInternalArtifactStat: endpoint({
    method: 'GET',
    path: '/api/internal/artifacts/stat',
    access: 'workspace',
    summary: 'One artifact by id or path',
    headers,
    query: target,
    response: one,
    errors: inScope,
  }),
  getInternalArtifactPreview: endpoint({
    method: 'GET',
    path: '/api/internal/artifacts/preview',
    access: 'workspace',
    summary: 'A preview of the artifact, as for its owner',
    headers,
    query: target,
    response: 'file',
    ranges: true,
    errors: [...inScope, 'unsupported_media_type'],
  }),
  getInternalArtifactDownload: endpoint({
    method: 'GET',
    path: '/api/internal/artifacts/download',
    access: 'workspace',
    summary: 'The bytes of an artifact, with Range',
    headers,
    query: target,
    response: 'file',
    ranges: true,
    errors: inScope,
  }),
  putInternalArtifact: endpoint({
    method: 'PUT',
    path: '/api/internal/artifacts',
    access: 'workspace',
    summary: 'Uploads the body as a file',
    headers,
    query: z.object({
      path,
      onConflict: z.enum(['rename', 'replace', 'fail']).optional(),
      mediaType: mediaTypeField.optional(),
    }),
    upload: true,
    response: one,
    status: 201,
    errors: [...inScope, 'path_taken', 'project_archived', 'conversation_archived', 'storage_full'],
  }),
  patchInternalArtifact: endpoint({
    method: 'PATCH',
    path: '/api/internal/artifacts',
    access: 'workspace',
    summary: 'Moves or renames a file (id or from) or a folder (from)',
    headers,
    body: z
      .object({ id: fields.id.optional(), from: path.optional(), to: path })
      .refine((body) => (body.id === undefined) !== (body.from === undefined), {
        message: 'Give exactly one of id and from',
        path: ['id'],
      }),
    response: z.object({ artifact: artifact.nullable(), moved: z.number().int() }),
    errors: [...inScope, 'path_taken'],
  }),
  deleteInternalArtifact: endpoint({
    method: 'DELETE',
    path: '/api/internal/artifacts',
    access: 'workspace',
    summary: 'Deletes a file (id or path) or everything below a folder (prefix)',
    headers,
    query: z
      .object({ id: fields.id.optional(), path: path.optional(), prefix: path.optional() })
      .refine((query) => [query.id, query.path, query.prefix].filter((value) => value !== undefined).length === 1, {
        message: 'Give exactly one of id, path and prefix',
        path: ['id'],
      }),
    response: z.object({ ok: z.literal(true), deleted: z.number().int() }),
    errors: inScope,
  }),
} as const;
