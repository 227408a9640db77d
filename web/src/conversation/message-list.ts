import type { ChatDetail, Message, QueuedInput, SubmittedMessage } from '@homeport/contracts/chat/conversations';

type Page = { messages: readonly Message[]; nextBefore: string | null };
/** A message that was sent to begin a branch after `parentId`. */
export type Edit = { id: string; parentId: string | null };

/**
 * Merges the shown page with the server's. An input that is already shown as a message stays one while it waits for its
 * response to begin; showing it as queued for a moment would make it jump.
 */
export function mergeDetail(view: Page, detail: ChatDetail, edit?: Edit): Page & { inputs: readonly QueuedInput[] } {
  const merged = mergePage(view, detail);
  const next = detail.inputs[0];
  const isShown = detail.response === null && view.messages.some((message) => message.id === next?.id);
  if (!next || !isShown) return { ...merged, inputs: detail.inputs };
  // The server's active branch is still the one before the edit until its response begins.
  const parentId = edit?.id === next.id ? edit.parentId : undefined;
  const isPlaced = parentId === null || merged.messages.some((message) => message.id === parentId);
  const page = { messages: merged.messages, inputs: detail.inputs };
  return { ...merged, ...promoteInput(page, next.id, detail.chat.id, isPlaced ? parentId : undefined) };
}

/**
 * Appends the server's newest page to the older pages already loaded. Unchanged messages keep their identity, so that
 * their views are not rendered again.
 */
function mergePage(view: Page, detail: ChatDetail): Page {
  const first = detail.messages[0];
  const at = first ? view.messages.findIndex((message) => message.id === first.id) : -1;
  const known = new Map(view.messages.map((message) => [message.id, message]));
  const page = detail.messages.map((message) => shared(known.get(message.id), message));
  return at > 0
    ? { messages: [...view.messages.slice(0, at), ...page], nextBefore: view.nextBefore }
    : { messages: page, nextBefore: detail.nextBefore };
}

/** Older messages before those already shown, without repeating one. */
export function prependPage(older: readonly Message[], messages: readonly Message[]): Message[] {
  const known = new Set(messages.map((message) => message.id));
  return [...older.filter((message) => !known.has(message.id)), ...messages];
}

/** The arriving answer in the place of its stored state, or at the end. */
export function overlay(messages: readonly Message[], live: Message): readonly Message[] {
  const at = messages.findIndex((message) => message.id === live.id);
  return at === -1
    ? [...messages, live]
    : messages.with(at, { ...live, siblingIds: messages[at]?.siblingIds ?? live.siblingIds });
}

/** An own message that was just acknowledged; with a `parentId` it begins a branch after that message. */
export function appendMessage(
  messages: readonly Message[],
  added: { chatId: string; message: SubmittedMessage; parentId: string | null | undefined; at: string },
): readonly Message[] {
  if (messages.some((message) => message.id === added.message.id)) return messages;
  const { parentId } = added;
  const keep = parentId === undefined ? messages.length : messages.findIndex((message) => message.id === parentId) + 1;
  const kept = messages.slice(0, keep);
  return [
    ...kept,
    {
      id: added.message.id,
      chatId: added.chatId,
      parentId: kept.at(-1)?.id ?? null,
      siblingIds: [added.message.id],
      role: 'user',
      parts: added.message.parts,
      status: 'complete',
      finishReason: null,
      finishDetail: null,
      createdAt: added.at,
    },
  ];
}

/** Turns a queued input whose turn has come into a message after its parent, or at the end of the branch. */
export function promoteInput(
  view: { messages: readonly Message[]; inputs: readonly QueuedInput[] },
  messageId: string,
  chatId: string,
  parentId?: string | null,
): { messages: readonly Message[]; inputs: readonly QueuedInput[] } {
  const input = view.inputs.find((candidate) => candidate.id === messageId);
  if (!input) return view;
  const { message, createdAt } = input;
  const messages = appendMessage(view.messages, {
    chatId,
    message: { id: message.id, parts: userParts(message.parts) },
    parentId,
    at: createdAt,
  });
  return { messages, inputs: view.inputs.filter((candidate) => candidate !== input) };
}

function userParts(parts: Message['parts']): SubmittedMessage['parts'] {
  return parts.filter((part) => part.type === 'text' || part.type === 'file');
}

function shared(known: Message | undefined, message: Message): Message {
  return known && JSON.stringify(known) === JSON.stringify(message) ? known : message;
}
