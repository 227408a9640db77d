import type { DraftStore } from '../draft/drafts.ts';
import type { Receipt } from '../receipts.ts';
import { effortOf, effortsName, withEffort } from './effort.ts';
import { afterSending, decisionOf, decisionsName, withDecision } from './model-decision.ts';

/**
 * Settles the choices of an acknowledged message: a model for one turn is used up, and choices made before the
 * conversation existed move from its draft to it.
 */
export function settleChoices(
  drafts: DraftStore,
  { chatId, draftName, createBody }: Pick<Receipt, 'chatId' | 'draftName' | 'createBody'>,
): void {
  const from = createBody === null ? chatId : draftName;
  const decisions = drafts.read(decisionsName);
  const decision = afterSending(decisionOf(decisions, from));
  const others = withDecision(decisions, from, { kind: 'keep' });
  drafts.replace(decisionsName, withDecision(others, chatId, decision));
  if (from === chatId) return;
  const efforts = drafts.read(effortsName);
  drafts.replace(effortsName, withEffort(withEffort(efforts, from, undefined), chatId, effortOf(efforts, from)));
}
