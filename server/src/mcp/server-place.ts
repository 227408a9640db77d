import { ApiError } from '@homeport/contracts/errors';
import type { Queryable } from '../db/pool.ts';
import type { ReviewedOffer } from './offered-trust.ts';
import type { NewMcpServer } from './servers.ts';
import type { McpServerRow } from './views.ts';

type Given = Pick<NewMcpServer, 'url' | 'transport' | 'command' | 'args'>;
export type ServerPlace = Pick<McpServerRow, 'url' | 'transport' | 'command'> & { args: string | null };

/** Address of a server, or, for a program, one derived from its command line. Throws `invalid_request`. */
export function placeOfServer(
  input: { [Name in keyof Given]: Given[Name] },
  before?: Pick<McpServerRow, 'url' | 'transport' | 'command' | 'args'>,
): ServerPlace {
  const transport = input.transport ?? 'http';
  if (transport === 'stdio') {
    const command = input.command ?? before?.command ?? required('command', 'The program to start');
    const args = input.args ?? before?.args ?? [];
    return { url: `stdio:${JSON.stringify([command, ...args])}`, transport, command, args: JSON.stringify(args) };
  }
  const known = before?.transport === 'stdio' ? undefined : before?.url;
  return {
    url: input.url ?? known ?? required('url', 'The address of the server'),
    transport,
    command: null,
    args: null,
  };
}

function required(path: string, message: string): never {
  throw new ApiError('invalid_request', `${message} is missing`, { details: [{ path, message }] });
}

/** Fields of an offered server that only the administrator sets. */
const offeredFields = ['url', 'transport', 'command', 'args', 'clientId', 'clientSecret'] as const;

/** Throws `invalid_request` if the input contains a field of the offer. */
export function assertLeftToOffer(input: { [Name in (typeof offeredFields)[number]]?: unknown }): void {
  const details = offeredFields
    .filter((path) => input[path] !== undefined)
    .map((path) => ({ path, message: 'The administrator who offers this server decides this' }));
  if (details.length > 0) {
    throw new ApiError('invalid_request', 'This server is offered by an administrator, who decides where it is', {
      details,
    });
  }
}

/** Address of an offered server, and its reviewed tools; locks the offer until the transaction ends. Throws `not_found`. */
export async function placeOfOffer(
  trx: Queryable,
  offerId: string,
): Promise<ServerPlace & { client_id: string | null; reviewed: ReviewedOffer }> {
  const offer = await trx
    .selectFrom('mcp_offers')
    .select(['url', 'transport', 'command', 'args', 'client_id'])
    .select(['trusted_tools', 'trusted_fingerprint', 'volatile_texts'])
    .where('id', '=', offerId)
    .forShare()
    .executeTakeFirst();
  if (offer === undefined) throw new ApiError('not_found', 'MCP server not found');
  const { trusted_tools, trusted_fingerprint, volatile_texts, args, ...place } = offer;
  return {
    ...place,
    args: args === null ? null : JSON.stringify(args),
    reviewed: { trusted_tools, trusted_fingerprint, volatile_texts },
  };
}
