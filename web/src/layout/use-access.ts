import { useQuery } from '@tanstack/react-query';
import { publicConfigQuery } from '../api/queries.ts';
import { type Access, accessOf } from '../conversation/access.ts';
import { useClientSession } from '../conversation/client-session.ts';

/** Permissions of the signed-in person. */
export function useAccess(): Access {
  const { user } = useClientSession();
  const { data } = useQuery(publicConfigQuery);
  return accessOf(user, data?.edition);
}
