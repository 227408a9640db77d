import { hash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Queryable } from '../../db/pool.ts';
import { type KeyRing, open, seal } from '../../secrets/key-ring.ts';
import { readable } from '../../secrets/reseal.ts';
import { authorizationServer } from './protocol.ts';

/** Sign-ins to MCP servers that have begun but not ended; the only writer of `mcp_sign_ins`. */

const begunSchema = z.object({
  serverId: z.string(),
  /** The server as it was: after a change, the answer is for something else. */
  revision: z.number(),
  server: authorizationServer,
  client: z.object({ clientId: z.string(), clientSecret: z.string().optional() }),
  isGiven: z.boolean(),
  redirectUri: z.string(),
  codeVerifier: z.string(),
  resource: z.string(),
  scope: z.string().optional(),
  returnTo: z.string(),
});
export type BegunMcpSignIn = z.infer<typeof begunSchema>;

type Needs = { db: Queryable; secrets: KeyRing };

const stateSeconds = 600;
const begunPerSession = 20;

export function newState(): string {
  return randomBytes(32).toString('base64url');
}

/** Stores the state of a sign-in until its callback; deletes the oldest ones of the session. */
export async function insertMcpState(
  { db, secrets }: Needs,
  state: string,
  sessionId: string,
  begun: BegunMcpSignIn,
): Promise<void> {
  const key = hashed(state);
  await db
    .insertInto('mcp_sign_ins')
    .values({
      state: key,
      server_id: begun.serverId,
      session_id: sessionId,
      value: seal(secrets, placeOf(key), JSON.stringify(begun)),
      expires_at: sql<Date>`now() + make_interval(secs => ${stateSeconds})`,
    })
    .execute();
  await sql`
    delete from mcp_sign_ins where state in (
      (select state from mcp_sign_ins where expires_at <= now() order by expires_at limit 20)
      union all
      (select state from mcp_sign_ins where session_id = ${sessionId} order by expires_at desc offset ${begunPerSession}))
  `.execute(db);
}

/** Takes a state once, in the session where it began; undefined if it is not its, used, or too old. */
export async function takeMcpState(
  { db, secrets }: Needs,
  state: string,
  sessionId: string,
): Promise<BegunMcpSignIn | undefined> {
  const key = hashed(state);
  const row = await db
    .deleteFrom('mcp_sign_ins')
    .where('state', '=', key)
    .where('session_id', '=', sessionId)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('value')
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const text = readable(() => open(secrets, placeOf(key), row.value));
  return text === undefined ? undefined : begunSchema.parse(JSON.parse(text));
}

/** Hashed, so that a copy of the database contains no usable state. */
function hashed(state: string): string {
  return hash('sha256', state, 'base64url');
}

function placeOf(key: string) {
  return { table: 'mcp_sign_ins', row: key, column: 'value' };
}
