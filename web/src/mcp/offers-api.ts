import type { CountedMcpOffer, OfferedMcpServer } from '@homeport/contracts/mcp-offers';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../api.ts';

export type { CountedMcpOffer, OfferedMcpServer };

/** What is offered to everybody, and what the signed-in person has added of it. */
export const offeredQuery = queryOptions({
  queryKey: ['mcp-offers'],
  queryFn: ({ signal }) => call('GET /api/mcp/offers', { signal }),
});

/** The same for administrators, with how many people have added each. */
export const adminOffersQuery = queryOptions({
  queryKey: ['admin-mcp-offers'],
  queryFn: ({ signal }) => call('GET /api/admin/mcp/offers', { signal }),
});

/** Where an offered server is, as one line. */
export function placeOf({ url, command, args }: Pick<OfferedMcpServer, 'url' | 'command' | 'args'>): string {
  return command === null ? url : [command, ...(args ?? [])].join(' ');
}
