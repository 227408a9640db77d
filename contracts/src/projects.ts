import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import * as fields from './fields.ts';
import { limits } from './limits.ts';

/** Projects and their members (contract section 5). */

export const projectRole = z.enum(['owner', 'member']);
export type ProjectRole = z.infer<typeof projectRole>;

export const projectMember = z.object({
  userId: fields.id,
  name: z.string(),
  email: z.string(),
  role: projectRole,
});
export type ProjectMember = z.infer<typeof projectMember>;

export const project = z.object({
  id: fields.id,
  name: z.string(),
  archived: z.boolean(),
  /** The caller's role; installation administrators who are no members see none. */
  role: projectRole.nullable(),
  members: z.array(projectMember),
  createdAt: fields.timestamp,
});
export type Project = z.infer<typeof project>;

const name = z.string().trim().min(1).max(limits.projectNameMax);

export const projectEndpoints = {
  getProjects: endpoint({
    method: 'GET',
    path: '/api/projects',
    access: 'session',
    summary: "The caller's projects; ?archived=1 the archived ones",
    query: z.object({ archived: fields.booleanFlag.optional() }),
    response: z.object({ projects: z.array(project) }),
  }),
  postProject: endpoint({
    method: 'POST',
    path: '/api/projects',
    access: 'session',
    summary: 'Creates a project; the caller owns it',
    body: z.object({ name }),
    response: z.object({ project }),
    status: 201,
  }),
  patchProject: endpoint({
    method: 'PATCH',
    path: '/api/projects',
    access: 'session',
    summary: 'Renames, archives or restores a project: owners and installation administrators',
    body: z.object({ id: fields.id, name: name.optional(), archived: z.boolean().optional() }),
    response: z.object({ project }),
    errors: ['not_found', 'forbidden'],
  }),
  postProjectMember: endpoint({
    method: 'POST',
    path: '/api/projects/members',
    access: 'session',
    summary: 'Adds a member by e-mail address, or changes a role: owners',
    body: z.object({ projectId: fields.id, email: fields.email, role: projectRole }),
    response: z.object({ project }),
    status: 201,
    errors: ['not_found', 'forbidden', 'invalid_request'],
  }),
  deleteProjectMember: endpoint({
    method: 'DELETE',
    path: '/api/projects/members',
    access: 'session',
    summary: 'Removes a member (owners), or leaves; a project keeps at least one owner',
    query: z.object({ projectId: fields.id, userId: fields.id }),
    response: fields.ok,
    errors: ['not_found', 'forbidden', 'invalid_request'],
  }),
} as const;
