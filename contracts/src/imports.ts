import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import * as fields from './fields.ts';
import { limits } from './limits.ts';
import { line } from './text/line.ts';

/** Coming over from other programs, and leaving again (contract.md section 11). */

/** Programs whose exports can be imported, in the order in which an entry is tried as theirs. */
export const importSources = ['chatgpt', 'claude', 'librechat', 'homeport', 'open-webui', 'chatbot-ui'] as const;
export type ImportSource = (typeof importSources)[number];

const importCounts = z.object({
  /** Counts of the archive's contents. */
  conversations: z.number().int(),
  messages: z.number().int(),
  files: z.number().int(),
  projects: z.number().int(),
  /** Of Homeport's own export. */
  assistants: z.number().int(),
  prompts: z.number().int(),
  skills: z.number().int(),
  /**
   * Conversations that are not here yet, those here with fewer messages, those here already, and those that cannot
   * come.
   */
  new: z.number().int(),
  more: z.number().int(),
  same: z.number().int(),
  leftOut: z.number().int(),
  /** New and continued conversations that have come so far. */
  imported: z.number().int(),
});

const importRecord = z.object({
  id: fields.id,
  state: z.enum(['reading', 'ready', 'importing', 'done', 'failed', 'cancelled', 'undone']),
  /** One of `importSources`; null until it is known. */
  source: z.string().nullable(),
  counts: importCounts,
  /** Items that can't be imported, at most 100; `title` is the conversation's title. */
  problems: z.array(z.object({ title: z.string().nullable(), message: z.string() })),
  filename: z.string().nullable(),
  size: z.number().int(),
  /** Custom instructions from the other application: offered to the person, never applied automatically. */
  instructions: z.string().nullable(),
  createdAt: fields.timestamp,
  endedAt: fields.timestamp.nullable(),
});
export type ImportRecord = z.infer<typeof importRecord>;

const importEntry = z.object({
  position: z.number().int(),
  kind: z.enum(['conversation', 'project', 'assistant', 'prompt', 'skill']),
  title: z.string(),
  outcome: z.enum(['new', 'more', 'same', 'left_out']),
  reason: z.string().nullable(),
  messages: z.number().int(),
  files: z.number().int(),
  /** The conversation, project, assistant, prompt or skill here, once it has come. */
  targetId: fields.id.nullable(),
  done: z.boolean(),
});
export type ImportEntry = z.infer<typeof importEntry>;

const one = z.object({ import: importRecord });

export const importEndpoints = {
  postImport: endpoint({
    method: 'POST',
    path: '/api/imports',
    access: 'session',
    summary: 'Takes the export of another program as it came; with dryRun=1 it is only read until it is started',
    query: z.object({ dryRun: fields.booleanFlag.optional(), filename: line(1, limits.importFilenameMax).optional() }),
    upload: true,
    uploadBytes: limits.importBytes,
    response: one,
    status: 202,
    errors: ['rate_limited', 'storage_full'],
  }),
  getImports: endpoint({
    method: 'GET',
    path: '/api/imports',
    access: 'session',
    summary: 'The imports of the caller, newest first; with id= one of them and what it brings, a page at a time',
    query: z.object({ id: fields.id.optional(), limit: fields.pageLimit, cursor: fields.cursor }),
    response: z.union([
      one.extend({ entries: z.array(importEntry), nextCursor: z.string().nullable() }),
      z.object({ imports: z.array(importRecord) }),
    ]),
    errors: ['not_found'],
  }),
  postImportStart: endpoint({
    method: 'POST',
    path: '/api/imports/start',
    access: 'session',
    summary: 'Imports what was read; while it is still being read, as soon as that is done',
    body: z.object({ id: fields.id }),
    response: one,
    errors: ['not_found', 'import_ended'],
  }),
  deleteImport: endpoint({
    method: 'DELETE',
    path: '/api/imports',
    access: 'session',
    summary: 'Cancels an import that has not ended, or undoes one that has',
    query: z.object({ id: fields.id }),
    response: z.object({ ok: z.literal(true), import: importRecord }),
    errors: ['not_found'],
  }),
  getMyExport: endpoint({
    method: 'GET',
    path: '/api/me/export',
    access: 'session',
    summary: 'All data of the caller as a zip archive, which can be imported again',
    response: 'file',
    fileTypes: ['application/zip'],
    errors: ['rate_limited'],
  }),
  deleteMe: endpoint({
    method: 'DELETE',
    path: '/api/me',
    access: 'session',
    summary: 'Deletes the account of the caller with its data; shared content stays',
    body: z.object({
      password: z.string().max(1024).optional(),
      /** In place of the password, for accounts that have none. */
      email: z.string().max(320).optional(),
    }),
    response: fields.ok,
    errors: ['invalid_credentials', 'last_admin', 'rate_limited'],
  }),
  deleteAdminUser: endpoint({
    method: 'DELETE',
    path: '/api/admin/users',
    access: 'admin',
    summary: 'Deletes an account; its data is deleted with it, or kept without access',
    query: z.object({ id: fields.id, data: z.enum(['keep', 'delete']) }),
    response: fields.ok,
    errors: ['not_found', 'last_admin'],
  }),
} as const;
