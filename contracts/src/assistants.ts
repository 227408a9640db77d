import { z } from 'zod';
import { projectFits, projectMisfit, sharing } from './catalogue/sharing.ts';
import { parameters } from './chat/parameters.ts';
import { endpoint } from './endpoint.ts';
import * as fields from './fields.ts';
import { limits } from './limits.ts';
import { line } from './text/line.ts';

/** Assistants: instructions, a model and tools under one name, in versions (contract.md section 11). */

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const emoji = /\p{Extended_Pictographic}|\p{Regional_Indicator}{2}|[0-9#*]\ufe0f?\u20e3/u;
const picture = /^data:image\/(?:png|jpeg|webp);base64,[a-z0-9+/]+={0,2}$/i;
const emojiMax = 40;

/** One emoji or a small picture; the picture's bytes are checked where it is stored. */
function isIcon(text: string): boolean {
  if (text.startsWith('data:')) return picture.test(text);
  return text.length <= emojiMax && emoji.test(text) && [...graphemes.segment(text)].length === 1;
}

/** Content of a version, which editors can change. */
export const assistantContent = {
  name: line(1, limits.assistantNameMax),
  description: z.string().trim().max(limits.assistantDescriptionMax),
  /** An emoji, or a PNG, JPEG or WebP picture as a data URL. */
  icon: z
    .string()
    .max(limits.assistantIconMax)
    .refine(isIcon, { message: 'One emoji, or a PNG, JPEG or WebP picture as a data URL with base64' })
    .nullable(),
  instructions: z.string().max(limits.instructionsMax).nullable(),
  modelId: fields.id.nullable(),
  tier: z.number().int().min(1).max(limits.tierValueMax).nullable(),
  parameters,
  /** Null: all of the reader's servers. An assistant never adds one. */
  mcpServerIds: z.array(fields.id).max(limits.mcpServersPerChat).nullable(),
  /** False: without the workspace's tools. True gives none to people without a workspace. */
  workspace: z.boolean(),
  starters: z.array(z.string().trim().min(1).max(limits.starterMax)).max(limits.startersMax),
};
const contentOut = z.object({ ...assistantContent, icon: z.string().nullable(), name: z.string() });

/** Tools and files that the assistant names but the caller can't access; they are left out. */
const missing = z.object({
  /** The caller has no such enabled model, so the tier or their default decides. */
  model: z.boolean(),
  /** How many of its MCP servers have no match among the caller's. */
  mcpServers: z.number().int(),
});

const assistant = contentOut.extend({
  id: fields.id,
  ...sharing,
  ownerId: fields.id,
  ownerName: z.string(),
  canEdit: z.boolean(),
  missing,
  /** How many knowledge files it has: `GET /api/artifacts?assistantId=`. */
  fileCount: z.number().int(),
  version: z.number().int(),
  createdAt: fields.timestamp,
  updatedAt: fields.timestamp,
});
export type Assistant = z.infer<typeof assistant>;

const version = contentOut.extend({
  version: z.number().int(),
  audience: sharing.audience,
  missing,
  /** The knowledge files, by path. */
  files: z.array(z.object({ id: fields.id, path: z.string(), size: z.number().int(), sha256: z.string() })),
  /** Null if the account no longer exists. */
  authorId: fields.id.nullable(),
  authorName: z.string().nullable(),
  createdAt: fields.timestamp,
});
export type AssistantVersion = z.infer<typeof version>;

const changes = z.object({ ...assistantContent, ...sharing }).partial();
const newAssistant = changes.extend({ name: assistantContent.name }).refine(projectFits, projectMisfit);
export type NewAssistant = z.output<typeof newAssistant>;

const assistantChange = changes
  .extend({ id: fields.id, restoreVersion: z.number().int().min(1).max(limits.versionMax).optional() })
  .refine(projectFits, projectMisfit)
  .refine(({ id: _, restoreVersion, ...rest }) => restoreVersion === undefined || !hasMembers(rest), {
    message: 'Alone: what a version has takes the place of everything',
    path: ['restoreVersion'],
  });
export type AssistantChange = z.output<typeof assistantChange>;

function hasMembers(value: object): boolean {
  return Object.values(value).some((member) => member !== undefined);
}

const one = z.object({ assistant });
const refs = ['not_found', 'forbidden', 'project_archived'] as const;

export const assistantEndpoints = {
  getAssistants: endpoint({
    method: 'GET',
    path: '/api/assistants',
    access: 'session',
    scope: 'chats:read',
    summary: 'The assistants that the caller may use, last changed first; ?q= searches them; with ?id= one',
    query: z.object({
      id: fields.id.optional(),
      q: z.string().trim().max(limits.searchMax).optional(),
      limit: fields.pageLimit,
      cursor: fields.cursor,
    }),
    response: z.union([z.object({ assistants: z.array(assistant), nextCursor: z.string().nullable() }), one]),
    errors: ['not_found'],
  }),
  postAssistant: endpoint({
    method: 'POST',
    path: '/api/assistants',
    access: 'session',
    summary: 'Creates an assistant: private, for the members of a project, or (administrators) for everyone',
    body: newAssistant,
    response: one,
    status: 201,
    errors: refs,
  }),
  patchAssistant: endpoint({
    method: 'PATCH',
    path: '/api/assistants',
    access: 'session',
    summary: 'Changes an assistant, or restores a version of it; every change makes a version',
    body: assistantChange,
    response: one,
    errors: refs,
  }),
  deleteAssistant: endpoint({
    method: 'DELETE',
    path: '/api/assistants',
    access: 'session',
    summary: 'Deletes an assistant; its conversations continue without it',
    query: z.object({ id: fields.id }),
    response: fields.ok,
    errors: ['not_found', 'forbidden'],
  }),
  getAssistantVersions: endpoint({
    method: 'GET',
    path: '/api/assistants/versions',
    access: 'session',
    scope: 'chats:read',
    summary: 'The versions of an assistant, newest first, for those who may edit it',
    query: z.object({ id: fields.id }),
    response: z.object({ versions: z.array(version) }),
    errors: ['not_found', 'forbidden'],
  }),
} as const;
