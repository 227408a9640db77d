import type { FilePart } from '@homeport/contracts/chat/frames';
import { createContext, use } from 'react';

/** Actions on a message. One stable object per conversation, so that messages are not rendered again. */
export type ThreadActions = {
  chatId: string;
  /** Reloads from the server and follows the running response. */
  follow: () => void;
  /** With a model's id that model answers, this once. */
  regenerate: (userMessageId: string, modelId?: string) => void;
  /** Puts a quotation into the draft and the cursor behind it. */
  quote: (text: string) => void;
  /** Puts a request into the draft, behind what is there; absent where nothing is sent. */
  ask?: (request: string) => void;
  resume: (messageId: string) => void;
  /** Sends "Continue" after a turn that has used up its budget. */
  goOn: () => void;
  /** Opens the prompt context of an answer. */
  showContext: (messageId: string) => void;
  /** Opens the files that an answer changed. */
  showChanges: (messageId: string) => void;
  selectBranch: (messageId: string) => void;
  /** Sends an edited message as a new version; false when it did not leave, and the editor stays open. */
  resend: (edited: {
    messageId: string;
    parentId: string | null;
    text: string;
    files: readonly FilePart[];
  }) => Promise<boolean>;
  modelName: (modelId: string) => string | undefined;
};

export const ThreadActionsContext = createContext<ThreadActions | null>(null);

export function useThreadActions(): ThreadActions {
  const actions = use(ThreadActionsContext);
  if (!actions) throw new Error('Messages are shown inside a thread');
  return actions;
}
