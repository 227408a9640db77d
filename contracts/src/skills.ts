import { z } from 'zod';
import { projectFits, projectMisfit, sharing } from './catalogue/sharing.ts';
import { endpoint } from './endpoint.ts';
import * as fields from './fields.ts';
import { limits } from './limits.ts';

/**
 * Skills that people add: instructions for a kind of task, with files, in the agentskills format (contract.md section
 * 11).
 */

const skill = z.object({
  id: fields.id,
  name: z.string(),
  description: z.string(),
  ...sharing,
  ownerId: fields.id,
  ownerName: z.string(),
  canEdit: z.boolean(),
  /** False: no conversation has the skill. */
  enabled: z.boolean(),
  files: z.number().int(),
  bytes: z.number().int(),
  /** The SHA-256 of its files. */
  fingerprint: z.string(),
  /** The caller's trust: only a `trusted` skill is in the prompt context; `changed`: an earlier content was trusted. */
  trust: z.enum(['trusted', 'new', 'changed']),
  createdAt: fields.timestamp,
  updatedAt: fields.timestamp,
});
export type Skill = z.infer<typeof skill>;

/** A skill in the caller's workspace, in the last state seen there. */
const workspaceSkill = z.object({ name: z.string(), description: z.string(), path: z.string() });

/** A skill that is part of this release: read-only, and trusted like the code of the product. */
const shippedSkill = z.object({
  name: z.string(),
  description: z.string(),
  text: z.string(),
  /** Offered only where the conversation can use the web. */
  needsWeb: z.boolean(),
  /** The caller's switch. */
  enabled: z.boolean(),
  /** The administrators' switch, which comes before the caller's. */
  enabledForEveryone: z.boolean(),
});
export type ShippedSkill = z.infer<typeof shippedSkill>;

const shippedChange = z.object({
  name: z.string().min(1).max(64),
  audience: z.enum(['me', 'everyone']),
  enabled: z.boolean(),
});
export type ShippedSkillChange = z.output<typeof shippedChange>;

const skillFile = z.object({
  path: z.string(),
  bytes: z.number().int(),
  sha256: z.string(),
  /** Null for binary files. */
  text: z.string().nullable(),
  /** Since the caller trusted the skill; `same` for a skill that they never trusted. */
  change: z.enum(['same', 'added', 'changed']),
});
export type SkillFile = z.infer<typeof skillFile>;

const one = z.object({ skill });
const placed = z.object(sharing).partial();
const fromWorkspace = placed
  .extend({ path: z.string().min(1).max(limits.workspacePathMax) })
  .refine(projectFits, projectMisfit);
const change = placed.extend({ id: fields.id, enabled: z.boolean().optional() }).refine(projectFits, projectMisfit);
export type SkillChange = z.output<typeof change>;

const upload = z
  .object({ id: fields.id.optional(), audience: sharing.audience.optional(), projectId: fields.id.optional() })
  .refine(projectFits, projectMisfit)
  .refine(({ id, audience }) => id === undefined || audience === undefined, {
    message: 'Not with id: who may use a skill is changed by PATCH',
    path: ['audience'],
  });

const refs = ['not_found', 'forbidden', 'project_archived', 'id_taken'] as const;

export const skillEndpoints = {
  getSkills: endpoint({
    method: 'GET',
    path: '/api/skills',
    access: 'session',
    summary:
      'The skills that the caller may use, newest first; on the first page also those in their workspace and those of the release',
    query: z.object({ limit: fields.pageLimit, cursor: fields.cursor }),
    response: z.object({
      skills: z.array(skill),
      workspace: z.array(workspaceSkill),
      shipped: z.array(shippedSkill),
      nextCursor: z.string().nullable(),
    }),
  }),
  postSkill: endpoint({
    method: 'POST',
    path: '/api/skills',
    access: 'session',
    summary:
      'Adds a skill from a zip archive or a SKILL.md; with `id`, its files take the place of those of that skill',
    form: upload,
    response: one,
    status: 201,
    errors: refs,
  }),
  postSkillFromWorkspace: endpoint({
    method: 'POST',
    path: '/api/skills/from-workspace',
    access: 'session',
    summary: 'Adds a skill from a folder of the caller’s workspace',
    body: fromWorkspace,
    response: one,
    status: 201,
    errors: [
      ...refs,
      ...(['invalid_path', 'payload_too_large', 'workspace_disabled', 'workspace_start_timeout'] as const),
      'workspace_request_failed',
    ],
  }),
  patchSkill: endpoint({
    method: 'PATCH',
    path: '/api/skills',
    access: 'session',
    summary: 'Switches a skill on or off, or changes who may use it',
    body: change,
    response: one,
    errors: refs,
  }),
  patchShippedSkill: endpoint({
    method: 'PATCH',
    path: '/api/skills/shipped',
    access: 'session',
    summary: 'Switches a skill of the release on or off: for the caller, or as an administrator for everyone',
    body: shippedChange,
    response: z.object({ skill: shippedSkill }),
    errors: ['not_found', 'forbidden'],
  }),
  deleteSkill: endpoint({
    method: 'DELETE',
    path: '/api/skills',
    access: 'session',
    summary: 'Removes a skill',
    query: z.object({ id: fields.id }),
    response: fields.ok,
    errors: ['not_found', 'forbidden'],
  }),
  getSkillFiles: endpoint({
    method: 'GET',
    path: '/api/skills/files',
    access: 'session',
    summary: 'All files of a skill, and the changes since the caller trusted it',
    query: z.object({ id: fields.id }),
    response: z.object({ skill, files: z.array(skillFile), removed: z.array(z.string()) }),
    errors: ['not_found'],
  }),
  postSkillTrust: endpoint({
    method: 'POST',
    path: '/api/skills/trust',
    access: 'session',
    summary: 'Trusts a skill as it was shown (409 skill_changed if it is another now); null takes the trust back',
    body: z.object({ id: fields.id, fingerprint: z.string().max(limits.fingerprintMax).nullable() }),
    response: one,
    errors: ['not_found', 'skill_changed'],
  }),
} as const;
