import type { Project } from '@homeport/contracts/projects';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../../api/api.ts';

/** The projects of the signed-in user, or their archived ones. */
export function projectsQuery(isArchived: boolean) {
  return queryOptions({
    queryKey: ['projects', isArchived ? 'archived' : 'active'],
    queryFn: async ({ signal }) =>
      (await call('GET /api/projects', { query: isArchived ? { archived: '1' } : {}, signal })).projects,
    staleTime: 30_000,
  });
}

/**
 * Owners have all permissions; projects without a role are visible only to administrators, who may rename and archive.
 */
export function canManage(project: Project): boolean {
  return project.role !== 'member';
}
