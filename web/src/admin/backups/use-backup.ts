import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { call } from '../../api/api.ts';
import { checkQuery, overviewQuery } from '../overview/overview-queries.ts';

const pollMs = 2_000;

const backupsQuery = queryOptions({
  queryKey: ['admin-backups'],
  queryFn: ({ signal }) => call('GET /api/admin/backups', { signal }),
  refetchInterval: (query) =>
    query.state.data?.backups.some(({ state }) => state === 'running') === true ? pollMs : false,
});

/** Makes a backup, and has the check and the overview look again as soon as one has ended. */
export function useBackup() {
  const client = useQueryClient();
  const { data, error } = useQuery(backupsQuery);
  const make = useMutation({
    mutationFn: () => call('POST /api/admin/backups', { body: {} }),
    onSettled: () => client.invalidateQueries({ queryKey: backupsQuery.queryKey }),
  });
  const isRunning = make.isPending || data?.backups.some(({ state }) => state === 'running') === true;
  const wasRunning = useRef(isRunning);
  useEffect(() => {
    if (wasRunning.current && !isRunning) {
      void client.invalidateQueries({ queryKey: checkQuery.queryKey });
      void client.invalidateQueries({ queryKey: overviewQuery.queryKey });
    }
    wasRunning.current = isRunning;
  }, [client, isRunning]);
  return { data, error, make, isRunning };
}
