import { z } from 'zod';
import type { Queryable } from '../../db/pool.ts';
import { insertVerification, takeVerification } from '../verifications.ts';

/** Single sign-ons that have begun but not ended. */

const begunSchema = z.object({
  /** The provider and client where it began. */
  federation: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  callbackURL: z.string(),
  errorCallbackURL: z.string(),
  /** The account to link the identity to, in place of signing in. */
  linkTo: z.string().optional(),
  /** Asked the provider for a choice of account that the settings do not demand. */
  choosesAccount: z.boolean().optional(),
});
export type BegunSignIn = z.infer<typeof begunSchema>;

export const stateSeconds = 300;

/** Stores what a sign-in needs at its end. */
export function insertState(db: Queryable, state: string, begun: BegunSignIn, now: number): Promise<void> {
  return insertVerification(db, { kind: 'oidc', secret: state, value: begun, seconds: stateSeconds }, now);
}

/** Takes a state once; undefined if it is not ours, used, or too old. */
export async function takeState(db: Queryable, state: string, now: number): Promise<BegunSignIn | undefined> {
  const value = await takeVerification(db, 'oidc', state, now);
  return value === undefined ? undefined : begunSchema.parse(value);
}
