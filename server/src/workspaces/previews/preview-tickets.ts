import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { insertVerification, takeVerification } from '../../accounts/verifications.ts';
import type { Config } from '../../config/config.ts';
import type { Queryable } from '../../db/pool.ts';

/** The user and session that open a preview, and the page of ours that it was opened from. */
const visitSchema = z.object({ label: z.string(), userId: z.string(), sessionId: z.string(), from: z.string() });
export type Visit = z.infer<typeof visitSchema>;

const ticketSchema = visitSchema.extend({ path: z.string() });
export type Ticket = z.infer<typeof ticketSchema>;
const cookieSchema = visitSchema.extend({ until: z.number() });

export const ticketSeconds = 60;
const visitSeconds = 12 * 3_600;
const valueMax = 2_048;

/** Path that redeems a ticket, on the preview's own origin. Requests to it never reach the app. */
export const ticketPath = '/.homeport/open/';

/** Stores a ticket, which opens the preview once within a minute. Returns its secret. */
export async function makeTicket(db: Queryable, ticket: Ticket, now: number): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  await insertVerification(db, { kind: 'preview', secret, value: ticket, seconds: ticketSeconds }, now);
  return secret;
}

/** Takes a ticket of this preview once; it is used up by another preview's, too. */
export async function takeTicket(
  db: Queryable,
  { secret, label }: { secret: string; label: string },
  now: number,
): Promise<Ticket | undefined> {
  if (!/^[\w-]{43}$/.test(secret)) return undefined;
  const found = ticketSchema.safeParse(await takeVerification(db, 'preview', secret, now));
  return found.success && found.data.label === label ? found.data : undefined;
}

/**
 * Cookies of previews. Only https has names that other hosts of a domain cannot set; at loopback no other host can.
 */
export class VisitCookies {
  readonly #key: Buffer;
  readonly #name: string;

  constructor({ authSecret, previewOrigin }: Pick<Config, 'authSecret' | 'previewOrigin'>) {
    this.#key = Buffer.from(hkdfSync('sha256', authSecret, '', 'homeport preview visit v1', 32));
    this.#name = `${previewOrigin?.startsWith('https:') === true ? '__Host-' : ''}homeport.preview`;
  }

  /** The Set-Cookie value; partitioned, so that it also counts in a frame of another site's page, and nowhere else. */
  set(visit: Visit, now: number): string {
    const payload = Buffer.from(JSON.stringify({ ...visit, until: now + visitSeconds * 1000 })).toString('base64url');
    const value = `${payload}.${this.#sign(payload)}`;
    return `${this.#name}=${value}; Max-Age=${visitSeconds}; Path=/; HttpOnly; Secure; SameSite=None; Partitioned`;
  }

  /** The visit that a Cookie header proves, for this preview only. */
  read(header: string | undefined, label: string, now: number): Visit | undefined {
    for (const pair of header?.split(';') ?? []) {
      const equals = pair.indexOf('=');
      if (pair.slice(0, equals).trim() !== this.#name) continue;
      const visit = this.#verified(pair.slice(equals + 1).trim());
      if (visit !== undefined && visit.label === label && visit.until > now) return visit;
    }
    return undefined;
  }

  #verified(value: string): z.infer<typeof cookieSchema> | undefined {
    const [payload = '', signature = '', more] = value.length > valueMax ? [] : value.split('.');
    const expected = Buffer.from(this.#sign(payload));
    const given = Buffer.from(signature);
    if (more !== undefined || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    return cookieSchema.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
  }

  #sign(payload: string): string {
    return createHmac('sha256', this.#key).update(payload).digest('base64url');
  }
}
