import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';
import { line } from '../text/line.ts';

/** Artifacts: files of a project, an assistant or a standalone conversation (contract.md section 8). */

export const artifact = z.object({
  id: fields.id,
  namespace: z.object({ type: z.enum(['project', 'chat', 'assistant']), id: fields.id }),
  path: z.string(),
  filename: z.string(),
  size: z.number().int(),
  mediaType: z.string(),
  sha256: z.string(),
  createdBy: fields.id,
  createdAt: fields.timestamp,
  /** Version number, from 1; each new content under the same id creates a version. */
  version: z.number().int(),
  /** Origin of a file that was not uploaded from a device: an MCP server and the URI of its resource. */
  source: z.string().optional(),
});
export type Artifact = z.infer<typeof artifact>;

const artifactVersion = z.object({
  version: z.number().int(),
  isCurrent: z.boolean(),
  size: z.number().int(),
  mediaType: z.string(),
  sha256: z.string(),
  createdBy: fields.id,
  createdAt: fields.timestamp,
});
export type ArtifactVersion = z.infer<typeof artifactVersion>;

/** A path inside a namespace as entered; the server's artifacts/path.ts decides what it means. */
export const artifactPath = z.string().min(1).max(limits.artifactPathMax);
const path = artifactPath;
const importScope = { chatId: fields.id.optional(), projectId: fields.id.optional() };
const scope = { ...importScope, assistantId: fields.id.optional() };
type Scope = { chatId?: string; projectId?: string; assistantId?: string };
const oneScope = ({ chatId, projectId, assistantId }: Scope) =>
  [chatId, projectId, assistantId].filter((id) => id !== undefined).length === 1;
const scopeMissing = { message: 'Give exactly one of chatId, projectId and assistantId', path: ['chatId'] };
type Target = { id?: string; path?: string };
const oneTarget = (given: Target) => (given.id === undefined) !== (given.path === undefined);
const targetMissing = { message: 'Give exactly one of id and path', path: ['id'] };

const named = z.object({ ...scope, id: fields.id.optional(), path: path.optional() });
const target = named.refine(oneScope, scopeMissing).refine(oneTarget, targetMissing);
const version = z.number().int().min(1).max(limits.versionMax);
/** The current version by default. */
const versioned = named
  .extend({
    version: z
      .string()
      .regex(/^\d{1,10}$/)
      .transform(Number)
      .pipe(version)
      .optional(),
  })
  .refine(oneScope, scopeMissing)
  .refine(oneTarget, targetMissing);

/** RFC 6838; parameters are accepted and dropped. */
const mediaTypeShape = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+ *(;.*)?$/;
export const mediaTypeField = z.string().max(limits.mediaTypeMax).regex(mediaTypeShape, 'Not a media type');

const onConflict = z.enum(['rename', 'replace', 'fail']);

const one = z.object({ artifact });
const reading = ['not_found', 'invalid_path'] as const;

export const artifactEndpoints = {
  getArtifacts: endpoint({
    method: 'GET',
    path: '/api/artifacts',
    access: 'session',
    scope: 'files:read',
    summary: 'Lists and searches the artifacts of a conversation, project or assistant, by path',
    query: z
      .object({
        ...scope,
        prefix: z.string().max(limits.artifactPathMax).optional(),
        q: z.string().trim().max(limits.searchMax).optional(),
        limit: fields.pageLimit,
        // The cursor contains a path.
        cursor: z.string().min(1).max(2048).optional(),
      })
      .refine(oneScope, scopeMissing),
    response: z.object({ artifacts: z.array(artifact), nextCursor: z.string().nullable() }),
    errors: reading,
  }),
  getArtifactStat: endpoint({
    method: 'GET',
    path: '/api/artifacts/stat',
    access: 'session',
    scope: 'files:read',
    summary: 'One artifact by id or path',
    query: target,
    response: one,
    errors: reading,
  }),
  getArtifactPreview: endpoint({
    method: 'GET',
    path: '/api/artifacts/preview',
    access: 'session',
    scope: 'files:read',
    summary: 'A preview of the artifact: text and CSV (the first 256 KiB), image or PDF, safe to show inline',
    query: versioned,
    response: 'file',
    ranges: true,
    errors: [...reading, 'unsupported_media_type'],
  }),
  getArtifactText: endpoint({
    method: 'GET',
    path: '/api/artifacts/text',
    access: 'session',
    scope: 'files:read',
    summary:
      'The text of a file as models read it: its length, its first lines, or one page. Starts the extraction if needed',
    query: z
      .object({
        ...scope,
        id: fields.id.optional(),
        path: path.optional(),
        page: z.coerce.number().int().min(1).max(1_000_000).optional(),
        /** A page by what it is called, as answers cite it: `page 3`, `sheet Budget, rows 1–80`. */
        label: z.string().min(1).max(300).optional(),
      })
      .refine(oneScope, scopeMissing)
      .refine(oneTarget, targetMissing),
    response: z.object({
      /** `working`: poll again. */
      state: z.enum(['ready', 'working', 'failed']),
      kind: z.string().nullable(),
      pages: z.number().int().nullable(),
      tokens: z.number().int().nullable(),
      firstLines: z.string().nullable(),
      /** The requested page. */
      page: z.object({ number: z.number().int(), label: z.string(), text: z.string() }).nullable(),
      warnings: z.array(z.object({ code: z.string(), message: z.string() })),
      problem: z.object({ code: z.string(), message: z.string() }).nullable(),
    }),
    errors: reading,
  }),
  getArtifactDownload: endpoint({
    method: 'GET',
    path: '/api/artifacts/download',
    access: 'session',
    scope: 'files:read',
    summary: 'The bytes of an artifact, with Range',
    query: versioned,
    response: 'file',
    ranges: true,
    errors: reading,
  }),
  getArtifactVersions: endpoint({
    method: 'GET',
    path: '/api/artifacts/versions',
    access: 'session',
    scope: 'files:read',
    summary: 'The versions of an artifact that are kept, the newest first; preview and download take a version',
    query: target,
    response: z.object({ versions: z.array(artifactVersion) }),
    errors: reading,
  }),
  postArtifactRestore: endpoint({
    method: 'POST',
    path: '/api/artifacts/restore',
    access: 'session',
    scope: 'files:write',
    summary: 'Makes an earlier version of an artifact the present one again, as a new version',
    body: z
      .object({ ...scope, id: fields.id.optional(), path: path.optional(), version })
      .refine(oneScope, scopeMissing)
      .refine(oneTarget, targetMissing),
    response: one,
    errors: [...reading, 'forbidden', 'project_archived', 'conversation_archived'],
  }),
  postArtifact: endpoint({
    method: 'POST',
    path: '/api/artifacts',
    access: 'session',
    scope: 'files:write',
    summary: 'Uploads a file (multipart/form-data, part `file`)',
    form: z
      .object({
        ...scope,
        path: path.optional(),
        onConflict: onConflict.optional(),
        /** Origin of the text; the prompt context marks it as written by a third party. */
        source: line(1, limits.artifactSourceMax).optional(),
      })
      .refine(oneScope, scopeMissing),
    response: one,
    status: 201,
    errors: [...reading, 'forbidden', 'path_taken', 'project_archived', 'conversation_archived'],
  }),
  patchArtifact: endpoint({
    method: 'PATCH',
    path: '/api/artifacts',
    access: 'session',
    scope: 'files:write',
    summary: 'Moves or renames a file (id or from) or a folder (from) inside its namespace',
    body: z
      .object({ ...scope, id: fields.id.optional(), from: path.optional(), to: path })
      .refine(oneScope, scopeMissing)
      .refine((body) => (body.id === undefined) !== (body.from === undefined), {
        message: 'Give exactly one of id and from',
        path: ['id'],
      }),
    /** `artifact` is the moved file, or null for a folder. */
    response: z.object({ artifact: artifact.nullable(), moved: z.number().int() }),
    errors: [...reading, 'forbidden', 'path_taken'],
  }),
  deleteArtifact: endpoint({
    method: 'DELETE',
    path: '/api/artifacts',
    access: 'session',
    scope: 'files:write',
    summary: 'Deletes a file (id or path) or everything below a folder (prefix)',
    query: z
      .object({ ...scope, id: fields.id.optional(), path: path.optional(), prefix: path.optional() })
      .refine(oneScope, scopeMissing)
      .refine((query) => [query.id, query.path, query.prefix].filter((value) => value !== undefined).length === 1, {
        message: 'Give exactly one of id, path and prefix',
        path: ['id'],
      }),
    response: z.object({ ok: z.literal(true), deleted: z.number().int() }),
    errors: [...reading, 'forbidden'],
  }),
  postArtifactImport: endpoint({
    method: 'POST',
    path: '/api/admin/artifacts/import',
    access: 'admin',
    summary: 'Imports one artifact under its id (multipart/form-data, part `file`); a retry answers skipped: true',
    form: z
      .object({
        ...importScope,
        // Any UUID version and variant, since other systems made it.
        artifactId: z.guid(),
        importSource: z.string().trim().min(1).max(limits.importSourceMax),
        path,
        mediaType: mediaTypeField.optional(),
        createdAt: fields.anyTime.optional(),
      })
      .refine(oneScope, { message: 'Give exactly one of chatId and projectId', path: ['chatId'] }),
    response: z.object({ artifact, skipped: z.boolean() }),
    status: 201,
    others: { 200: z.object({ artifact, skipped: z.literal(true) }) },
    errors: [...reading, 'id_taken', 'path_taken', 'import_source_conflict'],
  }),
} as const;
