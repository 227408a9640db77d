import { startTransition, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { ApiFailure } from '../api/api-failure.ts';
import { useClientSession } from '../conversation/client-session.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { restoreSent } from '../conversation/draft/sent-draft.ts';
import type { Outcome, Receipt, ReceiptState } from '../conversation/receipts.ts';
import { showAcknowledged } from '../conversation/submission.ts';

/** Reason for which the last submission was not sent, if there is no receipt. */
export type SubmissionProblem = { kind: 'refused'; failure: ApiFailure } | { kind: 'busy' } | { kind: 'not-stored' };

/**
 * The pending receipt of a conversation, and the acts that a person has on it. The same object until something changes.
 */
export type SubmissionState = {
  pending: ReceiptState | undefined;
  problem: SubmissionProblem | undefined;
  /** True while the page is being replaced by another one, which then owns the draft. */
  isLeaving: boolean;
  /** True when the server acknowledged. */
  submit: (receipt: Receipt) => Promise<boolean>;
  retry: () => Promise<boolean>;
  /** Gives the submission up; its text becomes the draft again. */
  discard: () => void;
};

/** Sending in one conversation. `leave` opens another page once the server has the message, before it is shown. */
export function useSubmission(store: ConversationStore, leave?: () => Promise<void>): SubmissionState {
  const { receipts, drafts } = useClientSession();
  const { chatId } = store;
  const pending = useSyncExternalStore(receipts.subscribe, () => receipts.state(chatId));
  const [problem, setProblem] = useState<SubmissionProblem>();
  const [isLeaving, setLeaving] = useState(false);
  const listener = useRef(leave);
  useEffect(() => {
    listener.current = leave;
  });

  const settle = useCallback(
    async (attempt: Promise<Outcome>): Promise<boolean> => {
      setLeaving(listener.current !== undefined);
      const outcome = await attempt.catch((error: unknown) => {
        setLeaving(false);
        throw error;
      });
      const hasReceipt = outcome.kind === 'uncertain' || outcome.kind === 'conflict' || outcome.kind === 'acknowledged';
      setProblem(hasReceipt ? undefined : outcome);
      if (outcome.kind !== 'acknowledged') {
        setLeaving(false);
        return false;
      }
      // Together with the other page, or after it.
      void listener.current?.().finally(() => startTransition(() => setLeaving(false)));
      void showAcknowledged(outcome, store);
      return true;
    },
    [store],
  );
  const submit = useCallback((receipt: Receipt) => settle(receipts.submit(receipt)), [receipts, settle]);
  const retry = useCallback(() => settle(receipts.retry(chatId)), [receipts, chatId, settle]);
  const discard = useCallback(() => {
    const receipt = receipts.state(chatId)?.receipt;
    if (!receipt) return;
    restoreSent(drafts, receipt);
    receipts.discard(chatId);
  }, [receipts, drafts, chatId]);

  return useMemo(
    () => ({ pending, problem, isLeaving, submit, retry, discard }),
    [pending, problem, isLeaving, submit, retry, discard],
  );
}
