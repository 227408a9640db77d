import { sql } from 'kysely';
import { z } from 'zod';
import { type Database, inTransaction, type Queryable } from '../../db/pool.ts';
import type { Clock } from '../../platform/clock.ts';
import { openFor, resealBound, sealFor } from '../../secrets/bound.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { type Resealed, readable } from '../../secrets/reseal.ts';
import type { ServerPlace } from '../credentials.ts';
import { authorizationServer, type OAuthDeps, refreshTokens, refusal, revokeToken, type Tokens } from './protocol.ts';

/**
 * The tokens of signed-in servers, sealed for the server's row, owner and origin, and kept fresh. Only this file and
 * rotation.ts write `envelope` and `generation`.
 */

const client = z.object({ clientId: z.string(), clientSecret: z.string().optional() });
const grantSchema = z.object({
  server: authorizationServer,
  client,
  resource: z.string(),
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  /** When it is due to be refreshed, in milliseconds; absent if the server did not say. */
  freshUntil: z.number().optional(),
  scope: z.string().optional(),
});
const heldSchema = z.object({
  /** Our client registration: the issuer, our redirect address and the client. */
  registered: z.object({ issuer: z.string(), redirectUri: z.string(), client }).optional(),
  grant: grantSchema.optional(),
});
export type Grant = z.infer<typeof grantSchema>;
export type Held = z.infer<typeof heldSchema>;

export type GrantDeps = OAuthDeps & { db: Pick<Database, 'kysely'>; secrets: KeyRing; clock: Clock };

type GrantRow = { held: Held; generation: number };

/** A token is refreshed this long before its end, or this share of its life if that is less. */
const earlySeconds = 60;
const earlyShare = 0.2;
/** How long one refresh may hold the row, and how often others look whether it is done. */
const leaseSeconds = 30;
const lookMs = 100;
const looks = 200;
const storeAttempts = 3;

/** Reads a server's registration and grant. Throws `credentials_unreadable`. */
async function readHeld(deps: Pick<GrantDeps, 'secrets'>, db: Queryable, place: ServerPlace): Promise<GrantRow> {
  const row = await db
    .selectFrom('mcp_grants')
    .select(['envelope', 'generation'])
    .where('server_id', '=', place.id)
    .executeTakeFirst();
  const { envelope = null, generation = 0 } = row ?? {};
  return { held: envelope === null ? {} : openHeld(deps, place, envelope), generation };
}

/** The same, and nothing if no key opens it or it belongs to another address: a new sign-in replaces it. */
export async function readAnyHeld(
  deps: Pick<GrantDeps, 'secrets'>,
  db: Queryable,
  place: ServerPlace,
): Promise<GrantRow> {
  const row = await db
    .selectFrom('mcp_grants')
    .select(['envelope', 'generation'])
    .where('server_id', '=', place.id)
    .executeTakeFirst();
  const { envelope = null, generation = 0 } = row ?? {};
  if (envelope === null) return { held: {}, generation };
  return { held: readable(() => openHeld(deps, place, envelope)) ?? {}, generation };
}

/** Puts `held` in place of what was held at this generation; false if that has changed meanwhile. */
export async function storeHeld(
  deps: Pick<GrantDeps, 'secrets'>,
  db: Queryable,
  place: ServerPlace,
  { held, generation }: GrantRow,
): Promise<boolean> {
  const isEmpty = held.registered === undefined && held.grant === undefined;
  const envelope = isEmpty ? null : sealFor(deps.secrets, placeOf(place), JSON.stringify(held));
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('mcp_grants')
    .values({ server_id: place.id, envelope, generation: generation + 1 })
    .onConflict((conflict) =>
      conflict
        .column('server_id')
        .doUpdateSet({ envelope, generation: generation + 1, refreshing_until: null })
        .where('mcp_grants.generation', '=', generation),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** A grant made of fresh tokens; a refresh that brings no new refresh token keeps the old one. */
export function grantOf(
  deps: Pick<GrantDeps, 'clock'>,
  tokens: Tokens,
  of: Pick<Grant, 'server' | 'client' | 'resource'> & { refreshToken?: string; scope?: string },
): Grant {
  const { server, client, resource } = of;
  const refreshToken = tokens.refreshToken ?? of.refreshToken;
  const scope = tokens.scope ?? of.scope;
  const life = tokens.lifeSeconds;
  const early = refreshToken === undefined || life === undefined ? 0 : Math.min(earlySeconds, life * earlyShare);
  return {
    server,
    client,
    resource,
    accessToken: tokens.accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(life === undefined ? {} : { freshUntil: deps.clock.now() + (life - early) * 1000 }),
    ...(scope === undefined ? {} : { scope }),
  };
}

/** Gives up the tokens of a server and, where the authorization server offers that, tells it so. */
export async function endGrant(deps: GrantDeps, { grant }: Held): Promise<void> {
  if (grant === undefined) return;
  await revokeToken(deps, grant.server, grant.client, grant.refreshToken ?? grant.accessToken);
}

/** The tokens of all signed-in servers for their connections; each is refreshed once, by its first user. */
export class McpTokens {
  readonly #deps: GrantDeps;
  readonly #running = new Map<string, Promise<Grant | undefined>>();

  constructor(deps: GrantDeps) {
    this.#deps = deps;
  }

  /**
   * A usable access token, and until when; undefined if the sign-in has ended. `refused`: a token that the server no
   * longer takes. Throws if the authorization server cannot be asked.
   */
  async read(place: ServerPlace, refused?: string): Promise<{ token: string; until: number } | undefined> {
    const row = await readHeld(this.#deps, this.#deps.db.kysely, place);
    const { grant } = row.held;
    if (grant === undefined) return undefined;
    if (grant.accessToken !== refused && !this.#isDue(grant)) return usable(grant);
    const fresh = await this.#refreshOnce(place, row);
    return fresh === undefined ? undefined : usable(fresh);
  }

  #isDue({ freshUntil = Number.POSITIVE_INFINITY }: Grant): boolean {
    return this.#deps.clock.now() >= freshUntil;
  }

  #refreshOnce(place: ServerPlace, row: GrantRow): Promise<Grant | undefined> {
    const key = `${place.id} ${row.generation}`;
    const running = this.#running.get(key) ?? this.#refresh(place, row).finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return running;
  }

  async #refresh(place: ServerPlace, row: GrantRow): Promise<Grant | undefined> {
    const { db, clock } = this.#deps;
    for (let look = 0; look < looks; look += 1) {
      if (await claim(db.kysely, place.id, row.generation)) return this.#refreshClaimed(place, row);
      const now = await readHeld(this.#deps, db.kysely, place);
      if (now.generation !== row.generation) return now.held.grant;
      await clock.sleep(lookMs);
    }
    throw refusal('timeout', 'its sign-in could not be renewed in time');
  }

  async #refreshClaimed(place: ServerPlace, row: GrantRow): Promise<Grant | undefined> {
    const { grant } = row.held;
    if (grant?.refreshToken === undefined) return this.#end(place, row);
    const { server, client, resource, refreshToken } = grant;
    const tokens = await refreshTokens(this.#deps, server, client, { refreshToken, resource }).catch(async (error) => {
      await release(this.#deps.db.kysely, place.id, row.generation);
      throw error;
    });
    if (tokens === 'ended') return this.#end(place, row);
    if (tokens === 'forgotten') return this.#end(place, { ...row, held: {} });
    const fresh = grantOf(this.#deps, tokens, grant);
    await this.#store(place, { held: { ...row.held, grant: fresh }, generation: row.generation });
    return fresh;
  }

  /** Retries, because the old refresh token is already spent: a short database outage must not lose the new one. */
  async #store(place: ServerPlace, row: GrantRow): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await storeHeld(this.#deps, this.#deps.db.kysely, place, row);
        return;
      } catch (error) {
        if (attempt === storeAttempts) throw error;
        await this.#deps.clock.sleep(1000);
      }
    }
  }

  async #end(place: ServerPlace, row: GrantRow): Promise<undefined> {
    const { grant: _, ...rest } = row.held;
    await inTransaction(this.#deps.db, async (trx) => {
      if (!(await storeHeld(this.#deps, trx, place, { held: rest, generation: row.generation }))) return;
      await sql`update mcp_servers set connection = 'needed' where id = ${place.id}`.execute(trx);
    });
    return undefined;
  }
}

async function claim(db: Queryable, serverId: string, generation: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('mcp_grants')
    .set({ refreshing_until: sql<Date>`now() + make_interval(secs => ${leaseSeconds})` })
    .where('server_id', '=', serverId)
    .where('generation', '=', generation)
    .where((row) => row.or([row('refreshing_until', 'is', null), row('refreshing_until', '<', sql<Date>`now()`)]))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

async function release(db: Queryable, serverId: string, generation: number): Promise<void> {
  await db
    .updateTable('mcp_grants')
    .set({ refreshing_until: null })
    .where('server_id', '=', serverId)
    .where('generation', '=', generation)
    .execute();
}

function usable({ accessToken, freshUntil = Number.POSITIVE_INFINITY }: Grant) {
  return { token: accessToken, until: freshUntil };
}

function openHeld(deps: Pick<GrantDeps, 'secrets'>, place: ServerPlace, envelope: string): Held {
  return heldSchema.parse(JSON.parse(openFor(deps.secrets, placeOf(place), envelope)));
}

/** Seals the tokens with the current key, bound to owner and origin, unless they already are. */
export function resealGrant(deps: Pick<GrantDeps, 'secrets'>, place: ServerPlace, envelope: string | null): Resealed {
  return resealBound(deps.secrets, placeOf(place), envelope);
}

/** The column of the envelope of a server's tokens, and the values it is bound to. */
function placeOf({ id, owner_id, url }: ServerPlace) {
  return { table: 'mcp_grants', row: id, column: 'envelope', owner: owner_id, address: url };
}
