import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import * as fields from './fields.ts';
import { limits } from './limits.ts';
import { line } from './text/line.ts';

/** Projects and their members (contract.md section 5). */

const projectRole = z.enum(['owner', 'member']);
export type ProjectRole = z.infer<typeof projectRole>;

const projectMember = z.object({
  userId: fields.id,
  name: z.string(),
  email: z.string(),
  role: projectRole,
});
export type ProjectMember = z.infer<typeof projectMember>;

const project = z.object({
  id: fields.id,
  name: z.string(),
  archived: z.boolean(),
  /** The caller's role; null for installation administrators who are not members. */
  role: projectRole.nullable(),
  members: z.array(projectMember),
  /** Instructions in the project's conversations; null for non-members. */
  instructions: fields.instructions,
  createdAt: fields.timestamp,
});
export type Project = z.infer<typeof project>;

/** People that an account can find: those in its projects, or everyone with an account here. */
export const peopleSearch = z.enum(['projects', 'everyone']);
export type PeopleSearch = z.infer<typeof peopleSearch>;

/** An account by its name and address. */
export const person = z.object({ id: fields.id, name: z.string(), email: z.string() });
export type Person = z.infer<typeof person>;

const name = line(1, limits.projectNameMax);

export const projectEndpoints = {
  getPeople: endpoint({
    method: 'GET',
    path: '/api/people',
    access: 'session',
    summary:
      'People to add or share with, by a part of their name or e-mail address: members of the caller’s projects, anyone by the complete address, and everyone for administrators or where they allow it',
    query: z.object({ q: z.string().trim().max(limits.searchMax).optional() }),
    /** At most 20, by name. `everyone`: the caller finds all accounts, not only those in their projects. */
    response: z.object({ people: z.array(person), everyone: z.boolean() }),
  }),
  getProjects: endpoint({
    method: 'GET',
    path: '/api/projects',
    access: 'session',
    scope: 'chats:read',
    summary:
      "The caller's projects; ?archived=1 the archived ones; ?all=1 those of the installation, for its administrators",
    query: z.object({
      archived: fields.booleanFlag.optional(),
      all: fields.booleanFlag.optional(),
      limit: fields.pageLimit,
      cursor: fields.cursor,
    }),
    // The caller's own projects come all at once, since their number is limited.
    response: z.object({ projects: z.array(project), nextCursor: z.string().nullable() }),
    errors: ['forbidden'],
  }),
  postProject: endpoint({
    method: 'POST',
    path: '/api/projects',
    access: 'session',
    scope: 'chats:write',
    summary: 'Creates a project; the caller owns it',
    body: z.object({ name }),
    response: z.object({ project }),
    status: 201,
  }),
  patchProject: endpoint({
    method: 'PATCH',
    path: '/api/projects',
    access: 'session',
    scope: 'chats:write',
    summary: 'Renames, archives or restores a project: owners and installation administrators; instructions: owners',
    body: z.object({
      id: fields.id,
      name: name.optional(),
      archived: z.boolean().optional(),
      instructions: fields.instructions.optional(),
    }),
    response: z.object({ project }),
    errors: ['not_found', 'forbidden'],
  }),
  postProjectMember: endpoint({
    method: 'POST',
    path: '/api/projects/members',
    access: 'session',
    summary: 'Adds a member by e-mail address (201), or changes a role (200): owners',
    body: z.object({ projectId: fields.id, email: fields.email, role: projectRole }),
    response: z.object({ project }),
    status: 201,
    others: { 200: z.object({ project }) },
    errors: ['not_found', 'forbidden', 'invalid_request'],
  }),
  deleteProjectMember: endpoint({
    method: 'DELETE',
    path: '/api/projects/members',
    access: 'session',
    summary: 'Removes a member (owners), or leaves; their conversations leave the project with them',
    query: z.object({ projectId: fields.id, userId: fields.id }),
    response: fields.ok,
    errors: ['not_found', 'forbidden', 'invalid_request'],
  }),
} as const;
