import type { Model } from '@homeport/contracts/catalogue/catalogue';
import type { Chat } from '@homeport/contracts/chat/conversations';
import { useEffect } from 'react';
import { decisionOf, decisionsName, isApplied, withDecision } from '../../conversation/choices/model-decision.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import type { ConversationStore } from '../../conversation/conversation-store.ts';
import type { ModelDecision } from '../../conversation/submission.ts';
import { useDraft } from '../../conversation/use-draft.ts';

/**
 * The person's choice of a model under `key`, kept until the server has applied it. A choice of a model that is gone
 * counts as none. `models` is undefined while the catalogue loads.
 */
export function useDecision(
  key: string,
  store: ConversationStore,
  chat: Chat | undefined,
  models: readonly Model[] | undefined,
) {
  const { drafts } = useClientSession();
  const stored = decisionOf(useDraft(decisionsName).text, key);
  const isGone = 'modelId' in stored && models?.every(({ id }) => id !== stored.modelId);
  const decision: ModelDecision = isGone ? { kind: 'keep' } : stored;
  // A running answer or a waiting message may still change the model of the conversation.
  useEffect(() => {
    const { response, inputs } = store.getView();
    const kept = drafts.read(decisionsName);
    if (chat && !response && inputs.length === 0 && isApplied(decisionOf(kept, key), chat))
      drafts.replace(decisionsName, withDecision(kept, key, { kind: 'keep' }));
  }, [chat, store, drafts, key]);
  const setDecision = (next: ModelDecision) =>
    drafts.replace(decisionsName, withDecision(drafts.read(decisionsName), key, next));
  return { decision, setDecision };
}
