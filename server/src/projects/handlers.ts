import { ApiError } from '@homeport/contracts/errors';
import type { projectEndpoints } from '@homeport/contracts/projects';
import { type Handler, Reply, sourceOf } from '../http/handler.ts';
import type { Platform } from '../platform.ts';
import { findPeople } from './people.ts';
import { createProject, listAllProjects, listProjects, putMember, updateProject } from './projects.ts';

type ProjectHandler<Name extends keyof typeof projectEndpoints> = Handler<
  Pick<Platform, 'db'>,
  (typeof projectEndpoints)[Name]
>;

/** GET /api/projects: the caller's or, with `all`, those of the installation, for its administrators. */
export const getProjects: ProjectHandler<'getProjects'> = async (deps, { actor, query }) => {
  const { all = false, archived = false, limit, cursor } = query;
  if (!all) return { projects: await listProjects(deps, actor.id, archived), nextCursor: null };
  if (actor.role !== 'admin') throw new ApiError('forbidden', 'Only administrators can see all projects');
  return listAllProjects(deps, actor.id, { archived, limit, cursor });
};

/** GET /api/people */
export const getPeople: ProjectHandler<'getPeople'> = (deps, { actor, query }) =>
  findPeople(deps, actor, query.q ?? '');

/** POST /api/projects */
export const postProject: ProjectHandler<'postProject'> = async (deps, input) => ({
  project: await createProject(deps, input.actor.id, input.body.name, sourceOf(input)),
});

/** PATCH /api/projects */
export const patchProject: ProjectHandler<'patchProject'> = async (deps, input) => ({
  project: await updateProject(deps, input.actor, input.body, sourceOf(input)),
});

/** POST /api/projects/members: 201 for a new member, 200 for another role. */
export const postProjectMember: ProjectHandler<'postProjectMember'> = async (deps, input) => {
  const { project, added } = await putMember(deps, input.actor.id, input.body, sourceOf(input));
  return new Reply({ project }, { status: added ? 201 : 200 });
};
