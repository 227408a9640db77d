import type { CountedMcpOffer, McpOffer, OfferedMcpServer } from '@homeport/contracts/mcp/offers';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../../api/api.ts';
import { dateLocale } from '../../i18n/format-locale.ts';
import type { Translate } from '../../i18n/i18n.ts';

export type { CountedMcpOffer, McpOffer, OfferedMcpServer };

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

/** Sentence about the administrator's trust in an offer; undefined if each person reviews its tools. */
export function trustLine({ trustedAt, trustedBy }: Pick<McpOffer, 'trustedAt' | 'trustedBy'>, t: Translate) {
  if (trustedAt === null) return undefined;
  const date = new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium' }).format(new Date(trustedAt));
  return trustedBy === null ? t('mcp.trustedByUnnamed', { date }) : t('mcp.trustedBy', { name: trustedBy, date });
}

/** Address of an offered server as one line: its URL or its command. */
export function placeOf({ url, command, args }: Pick<OfferedMcpServer, 'url' | 'command' | 'args'>): string {
  return command === null ? url : [command, ...(args ?? [])].join(' ');
}
