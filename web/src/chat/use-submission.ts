import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { ApiFailure } from '../api-failure.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import type { Outcome, Receipt, ReceiptState } from '../conversation/receipts.ts';
import { showAcknowledged } from '../conversation/submission.ts';
import { useWorkbench } from '../conversation/workbench.ts';

/** Why the last submission did not leave, where no receipt tells it. */
export type SubmissionProblem = { kind: 'refused'; failure: ApiFailure } | { kind: 'busy' } | { kind: 'not-stored' };

/**
 * The pending receipt of a conversation, and the acts that a person has on it. The same object until something changes.
 */
export type SubmissionState = {
  pending: ReceiptState | undefined;
  problem: SubmissionProblem | undefined;
  /** True when the server acknowledged. */
  submit: (receipt: Receipt) => Promise<boolean>;
  retry: () => Promise<boolean>;
  /** Gives the submission up; its text becomes the draft again. */
  discard: () => void;
};

/** Sending in one conversation. `onAcknowledged` runs once the server has the message, before it is shown. */
export function useSubmission(store: ConversationStore, onAcknowledged?: () => void): SubmissionState {
  const { receipts, drafts } = useWorkbench();
  const { chatId } = store;
  const pending = useSyncExternalStore(receipts.subscribe, () => receipts.state(chatId));
  const [problem, setProblem] = useState<SubmissionProblem>();
  const listener = useRef(onAcknowledged);
  useEffect(() => {
    listener.current = onAcknowledged;
  });

  const settle = useCallback(
    async (outcome: Outcome): Promise<boolean> => {
      const isTold = outcome.kind === 'uncertain' || outcome.kind === 'conflict' || outcome.kind === 'acknowledged';
      setProblem(isTold ? undefined : outcome);
      if (outcome.kind !== 'acknowledged') return false;
      listener.current?.();
      void showAcknowledged(outcome, store);
      return true;
    },
    [store],
  );
  const submit = useCallback(async (receipt: Receipt) => settle(await receipts.submit(receipt)), [receipts, settle]);
  const retry = useCallback(async () => settle(await receipts.retry(chatId)), [receipts, chatId, settle]);
  const discard = useCallback(() => {
    const receipt = receipts.state(chatId)?.receipt;
    if (!receipt) return;
    drafts.replace(receipt.draftName, receipt.text);
    receipts.discard(chatId);
  }, [receipts, drafts, chatId]);

  return useMemo(() => ({ pending, problem, submit, retry, discard }), [pending, problem, submit, retry, discard]);
}
