import { z } from 'zod';
import { projectFits, projectMisfit, sharing } from './catalogue/sharing.ts';
import { endpoint } from './endpoint.ts';
import * as fields from './fields.ts';
import { limits } from './limits.ts';
import { line } from './text/line.ts';

/** Saved prompts, inserted in the composer by `/name` (contract.md section 11). */

export const promptFields = {
  name: z.string().regex(/^[a-z0-9-]{1,64}$/, 'Small letters, digits and "-" only, 1 to 64 characters'),
  title: line(1, limits.promptTitleMax),
  text: z.string().min(1).max(limits.promptTextMax),
};

const prompt = z.object({
  id: fields.id,
  name: z.string(),
  title: z.string(),
  text: z.string(),
  ...sharing,
  ownerId: fields.id,
  canEdit: z.boolean(),
  /** When the caller last inserted it. */
  lastUsedAt: fields.timestamp.nullable(),
  createdAt: fields.timestamp,
  updatedAt: fields.timestamp,
});
export type Prompt = z.infer<typeof prompt>;

const newPrompt = z
  .object({ ...promptFields, title: promptFields.title.optional(), ...z.object(sharing).partial().shape })
  .refine(projectFits, projectMisfit);
export type NewPrompt = z.output<typeof newPrompt>;

const promptChange = z
  .object({ ...promptFields, ...sharing })
  .partial()
  .extend({ id: fields.id })
  .refine(projectFits, projectMisfit);
export type PromptChange = z.output<typeof promptChange>;

const one = z.object({ prompt });
const refs = ['not_found', 'forbidden', 'project_archived', 'id_taken'] as const;

export const promptEndpoints = {
  getPrompts: endpoint({
    method: 'GET',
    path: '/api/prompts',
    access: 'session',
    scope: 'chats:read',
    summary: 'The prompts that the caller may use, last used first, then the newest; ?q= searches name and title',
    query: z.object({
      q: z.string().trim().max(limits.searchMax).optional(),
      limit: fields.pageLimit,
      cursor: fields.cursor,
    }),
    response: z.object({ prompts: z.array(prompt), nextCursor: z.string().nullable() }),
  }),
  postPrompt: endpoint({
    method: 'POST',
    path: '/api/prompts',
    access: 'session',
    summary: 'Saves a prompt; its name is unique among those of its owner (409 id_taken)',
    body: newPrompt,
    response: one,
    status: 201,
    errors: refs,
  }),
  patchPrompt: endpoint({
    method: 'PATCH',
    path: '/api/prompts',
    access: 'session',
    summary: 'Changes a prompt',
    body: promptChange,
    response: one,
    errors: refs,
  }),
  deletePrompt: endpoint({
    method: 'DELETE',
    path: '/api/prompts',
    access: 'session',
    summary: 'Deletes a prompt',
    query: z.object({ id: fields.id }),
    response: fields.ok,
    errors: ['not_found', 'forbidden'],
  }),
  postPromptUsed: endpoint({
    method: 'POST',
    path: '/api/prompts/used',
    access: 'session',
    summary: 'Notes that the caller has inserted a prompt: it comes first in their list',
    body: z.object({ id: fields.id }),
    response: fields.ok,
    errors: ['not_found'],
  }),
} as const;
