import type { ApiError } from '@homeport/contracts/errors';
import type { Deps } from '../../deps.ts';
import type { Actor } from '../../http/handler.ts';

/** The account of a request to the gateway, and the token that it showed. */
export type Caller = {
  ownerId: string;
  tokenId: string;
  /** Calls `end` once the token or the account is no longer valid; returns a function that stops watching. */
  watch(deps: Deps, end: (reason: ApiError) => void): () => void;
};

export function callerOf(actor: Actor): Caller {
  return {
    ownerId: actor.id,
    tokenId: actor.sessionId,
    watch: ({ sessions }, end) => sessions.watch(actor.sessionId, end, { endsUnchecked: false }),
  };
}
