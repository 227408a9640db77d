import type { ManagedUser } from '@homeport/contracts/admin';
import { infiniteQueryOptions, keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query';
import { call } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { meQuery } from '../api/queries.ts';
import { type PeopleFilter, type PeopleSort, peopleQuery } from './people/people-search.ts';

/** Server state of the administration, as TanStack Query options. */

/** Pages of the users who match, and how many there are. */
export function usersQuery(q: string, show: PeopleFilter, sort: PeopleSort) {
  const filter = peopleQuery(show);
  return infiniteQueryOptions({
    queryKey: ['admin-users', 'list', q, show, sort],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/admin/users', { query: { q, sort, ...filter, cursor: pageParam, limit: '50' }, signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    enabled: filter !== undefined,
  });
}

/** One user; null if there is none with this id. */
export function userQuery(id: string) {
  return queryOptions({
    queryKey: ['admin-users', 'one', id],
    queryFn: async ({ signal }) => {
      const { users } = await call('GET /api/admin/users', { query: { q: id, limit: '2' }, signal });
      return users.find((user) => user.id === id) ?? null;
    },
  });
}

/** Pages of users to fetch for their names. */
const directoryPages = 10;

/** Names by user id for the newest 5,000 users; others are shown by id. */
export const directoryQuery = queryOptions({
  queryKey: ['admin-users', 'directory'],
  queryFn: async ({ signal }) => {
    const names = new Map<string, { name: string; email: string }>();
    let cursor: string | undefined;
    for (let page = 0; page < directoryPages; page += 1) {
      const answer = await call('GET /api/admin/users', { query: { cursor, limit: '500' }, signal });
      for (const { id, name, email } of answer.users) names.set(id, { name, email });
      if (answer.nextCursor === null) break;
      cursor = answer.nextCursor;
    }
    return names;
  },
  staleTime: 60_000,
});

export const invitationsQuery = infiniteQueryOptions({
  queryKey: ['admin-invitations'],
  queryFn: async ({ pageParam, signal }) => {
    const answer = await call('GET /api/invitations', { query: { cursor: pageParam, limit: '50' }, signal });
    if ('invitations' in answer) return answer;
    throw new ApiFailure('unreadable', '');
  },
  initialPageParam: '',
  getNextPageParam: (page) => page.nextCursor,
});

/** Pages of the invitations that wait. */
export function openInvitationsQuery(q: string) {
  return infiniteQueryOptions({
    queryKey: [...invitationsQuery.queryKey, 'open', q],
    queryFn: async ({ pageParam, signal }) => {
      const query = { q, state: 'open', cursor: pageParam, limit: '50' } as const;
      const answer = await call('GET /api/invitations', { query, signal });
      if ('invitations' in answer) return answer;
      throw new ApiFailure('unreadable', '');
    },
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
  });
}

export const auditQuery = infiniteQueryOptions({
  queryKey: ['admin-audit'],
  queryFn: ({ pageParam, signal }) =>
    call('GET /api/admin/audit', { query: { cursor: pageParam, limit: '100' }, signal }),
  initialPageParam: '',
  getNextPageParam: (page) => page.nextCursor,
  staleTime: 0,
});

/** Changes one user, possibly the administrator's own account, and shows the new state everywhere. */
export async function changeUser(queries: QueryClient, body: UserChange): Promise<ManagedUser> {
  const user = await callPatch(body);
  queries.setQueryData(userQuery(user.id).queryKey, user);
  const me = queries.getQueryData(meQuery.queryKey)?.user;
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['admin-users', 'list'] }),
    me?.id === user.id ? queries.invalidateQueries({ queryKey: meQuery.queryKey }) : undefined,
  ]);
  return user;
}

/** Changes several users at once; returns how many. */
export async function changeUsers(queries: QueryClient, body: UsersChange): Promise<number> {
  const answer = await call('PATCH /api/admin/users', { body });
  if (!('updated' in answer)) throw new ApiFailure('unreadable', '');
  await queries.invalidateQueries({ queryKey: ['admin-users'] });
  return answer.updated;
}

type UsersChange = {
  ids: string[];
  enabled?: boolean;
  providerSettingsEnabled?: boolean;
  mcpSettingsEnabled?: boolean;
};

type UserChange = {
  id: string;
  name?: string;
  role?: 'admin' | 'user';
  enabled?: boolean;
  password?: string;
  mustChangePassword?: boolean;
  providerSettingsEnabled?: boolean;
  mcpSettingsEnabled?: boolean;
};

async function callPatch(body: UserChange): Promise<ManagedUser> {
  const answer = await call('PATCH /api/admin/users', { body });
  if ('user' in answer) return answer.user;
  throw new ApiFailure('unreadable', '');
}
