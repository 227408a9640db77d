import type { CountedMcpOffer, OfferedMcpServer } from '@homeport/contracts/mcp/offers';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../../api/api.ts';

export type { CountedMcpOffer, OfferedMcpServer };

/** Query for the servers offered to everyone, with those that the signed-in person has added. */
export const offeredQuery = queryOptions({
  queryKey: ['mcp-offers'],
  queryFn: ({ signal }) => call('GET /api/mcp/offers', { signal }),
});

/** The same for administrators, with how many people have added each. */
export const adminOffersQuery = queryOptions({
  queryKey: ['admin-mcp-offers'],
  queryFn: ({ signal }) => call('GET /api/admin/mcp/offers', { signal }),
});

/** Address of an offered server as one line: its URL or its command. */
export function placeOf({ url, command, args }: Pick<OfferedMcpServer, 'url' | 'command' | 'args'>): string {
  return command === null ? url : [command, ...(args ?? [])].join(' ');
}
