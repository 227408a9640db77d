import { useState, useSyncExternalStore } from 'react';
import type { ApiFailure } from '../api-failure.ts';
import { useWorkbench } from '../workbench.ts';
import type { ConversationStore } from './conversation-store.ts';
import type { Outcome, Receipt, ReceiptState } from './receipts.ts';
import { showAcknowledged } from './submission.ts';

/** Why the last submission did not leave, where no receipt tells it. */
export type SubmissionProblem = { kind: 'refused'; failure: ApiFailure } | { kind: 'busy' } | { kind: 'not-stored' };

/** Sending in one conversation: the pending receipt, and the acts that a person has on it. */
export function useSubmission(store: ConversationStore, onAcknowledged?: () => void) {
  const { receipts, drafts } = useWorkbench();
  const { chatId } = store;
  const pending: ReceiptState | undefined = useSyncExternalStore(receipts.subscribe, () => receipts.state(chatId));
  const [problem, setProblem] = useState<SubmissionProblem>();

  const settle = async (outcome: Outcome): Promise<boolean> => {
    if (outcome.kind === 'acknowledged') {
      setProblem(undefined);
      onAcknowledged?.();
      await showAcknowledged(outcome, store);
      return true;
    }
    const isTold = outcome.kind === 'uncertain' || outcome.kind === 'conflict';
    setProblem(isTold ? undefined : outcome);
    return false;
  };

  return {
    pending,
    problem,
    submit: async (receipt: Receipt) => settle(await receipts.submit(receipt)),
    retry: async () => settle(await receipts.retry(chatId)),
    /** Gives the submission up; its text becomes the draft again. */
    discard: () => {
      if (!pending) return;
      drafts.write(pending.receipt.draftName, pending.receipt.text);
      receipts.discard(chatId);
    },
  };
}
