import type { Platform } from '../../platform.ts';
import { dropApproval, insertApproval, waitForDecision } from '../ledger/approvals.ts';
import type { ResponseRow } from '../ledger/response-start.ts';
import type { Approvals } from '../tools/call-run.ts';
import type { RunningResponses } from './running-responses.ts';

/**
 * How long a response waits for approval before it is interrupted, since it uses memory and blocks its conversation.
 */
const waitingMs = 3_600_000;

type RunApprovalsDeps = Pick<Platform, 'db' | 'clock'> & { responses: RunningResponses };

/** `park` ends the waiting: questions stay open, and the decision continues the response. */
export type RunApprovals = Approvals & { park: () => void };

/**
 * The questions that one response asks its person. `onUndecided` is called when a wait ends without a decision. It ends
 * the response as interrupted if its approvals are parked, and returns whether the response was interrupted or lost.
 */
export function createRunApprovals(
  deps: RunApprovalsDeps,
  response: ResponseRow,
  onUndecided: (isParked: boolean) => boolean,
): RunApprovals {
  const { responses, clock, db } = deps;
  // Aborted when approvals are no longer waited for; tools beside them continue.
  const parked = new AbortController();
  const park = (): void => parked.abort();
  return {
    park,
    request: (call) => insertApproval(db.kysely, response, call),
    drop: (approvalId) => dropApproval(db.kysely, response, approvalId),
    async wait(approvalId, signal) {
      const timeout = new AbortController();
      if (responses.draining) park();
      clock.sleep(waitingMs, timeout.signal).then(park, () => undefined);
      try {
        const waiting = AbortSignal.any([signal, parked.signal]);
        return await waitForDecision({ ...deps, signals: responses.signals }, response, approvalId, waiting);
      } catch (error) {
        if (onUndecided(parked.signal.aborted)) return 'parked';
        throw error;
      } finally {
        timeout.abort();
      }
    },
  };
}
