import type { Submission } from '@homeport/contracts/chat/chat';
import type { QueuedInput, SubmittedMessage } from '@homeport/contracts/chat/conversations';
import type { FilePart } from '@homeport/contracts/chat/frames';
import { startResponse } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { createId } from '../ids.ts';
import type { Effort } from './choices/effort.ts';
import type { ConversationStore } from './conversation-store.ts';
import { type NewChat, newChatBody } from './new-chat.ts';
import type { Outcome, Receipt } from './receipts.ts';

/** The person's choice in the model picker, as far as it differs from what the conversation does anyway. */
export type ModelDecision =
  | { kind: 'keep' }
  | { kind: 'default' }
  | { kind: 'pin'; modelId: string }
  | { kind: 'once'; modelId: string };

export type NewSubmission = {
  chatId: string;
  text: string;
  files: readonly FilePart[];
  decision: ModelDecision;
  /** By default the value of the conversation, its assistant or the model. */
  effort?: Effort;
  /** The MCP servers of a conversation that does not exist yet; absent where nothing was chosen. */
  mcpServerIds?: string[] | null;
  web?: false;
  /** A response is running: the message waits for its turn. */
  isQueued: boolean;
  /** The conversation has to be made first. */
  newChat?: NewChat;
  /** The message that an edited one follows; absent for a message at the end. */
  parentId?: string | null;
  draftName: string;
};

/** Fixes everything that is sent, once: identity, endpoint and body never change afterwards. */
export function createReceipt(submission: NewSubmission): Receipt {
  const { chatId, text, files, parentId, mcpServerIds, web, newChat } = submission;
  const texts = text.trim() === '' ? [] : [{ type: 'text' as const, text }];
  const message: SubmittedMessage = { id: createId(), parts: [...files, ...texts] };
  const body: Submission = {
    chatId,
    message,
    ...(parentId === undefined ? {} : { parentId }),
    ...decisionFields(submission.decision),
    ...effortFields(submission.effort),
    ...(mcpServerIds === undefined ? {} : { mcpServerIds }),
    ...(web === undefined ? {} : { web }),
  };
  return {
    version: 1,
    chatId,
    messageId: message.id,
    route: submission.isQueued ? 'POST /api/chat/turn-inputs' : 'POST /api/chat/start',
    body: JSON.stringify(body),
    createBody: newChat ? JSON.stringify(newChatBody(chatId, newChat)) : null,
    text,
    draftName: submission.draftName,
    savedAt: new Date().toISOString(),
  };
}

/** The model decision as the chat endpoints take it (control-plane-api.md "POST /api/chat"). */
export function decisionFields(decision: ModelDecision): { modelPinned?: boolean; modelId?: string } {
  if (decision.kind === 'default') return { modelPinned: false };
  if (decision.kind === 'pin') return { modelPinned: true, modelId: decision.modelId };
  return decision.kind === 'once' ? { modelId: decision.modelId } : {};
}

/** The parameters of one turn: part of the receipt, so that a retry is the same. */
export function effortFields(effort: Effort | undefined): Pick<Submission, 'parameters'> {
  return effort === undefined ? {} : { parameters: { reasoningEffort: effort } };
}

/** Shows an acknowledged message in its conversation and has its answer begun. */
export async function showAcknowledged(
  outcome: Extract<Outcome, { kind: 'acknowledged' }>,
  store: ConversationStore,
): Promise<void> {
  const { receipt, answer } = outcome;
  if (receipt.route === 'POST /api/chat/turn-inputs') {
    const input = queuedInput(answer);
    if (input) store.addQueued(input);
    store.follow();
    return;
  }
  const { message, parentId } = parseBody(receipt.body);
  store.addSubmitted(message, parentId, receipt.savedAt);
  await beginResponse(store, { messageId: receipt.messageId });
}

/**
 * Starts the response to an input and follows it. A failure without a response from the server is ignored: an admitted
 * input starts on its own (contract.md section 6).
 */
export async function beginResponse(
  store: ConversationStore,
  request: { messageId: string; regenerate?: true } & ReturnType<typeof decisionFields> &
    Pick<Submission, 'parameters'>,
): Promise<void> {
  const { chatId } = store;
  try {
    const { assistantId } = await startResponse({ chatId, ...request });
    store.expectResponse({ assistantId, messageId: request.messageId });
  } catch (error) {
    const failure = error instanceof ApiFailure ? error : new ApiFailure('unreadable', '', { cause: error });
    if (failure.code !== 'network') store.reportStartFailure(request.messageId, failure);
    store.follow();
  }
}

/** Resumes the last response after it was stopped, failed or interrupted. */
export async function resumeResponse(store: ConversationStore, messageId: string): Promise<void> {
  try {
    await startResponse({ chatId: store.chatId, resume: true });
  } catch (error) {
    // `input_conflict`: it was continued meanwhile, and the conversation shows the result.
    const isTold = error instanceof ApiFailure && error.code !== 'network' && error.code !== 'input_conflict';
    if (isTold) store.reportStartFailure(messageId, error);
  }
  store.restart();
}

function parseBody(body: string): Submission {
  return JSON.parse(body) as Submission;
}

function queuedInput(answer: unknown): QueuedInput | undefined {
  const input = typeof answer === 'object' && answer !== null && 'input' in answer ? answer.input : undefined;
  return input as QueuedInput | undefined;
}
