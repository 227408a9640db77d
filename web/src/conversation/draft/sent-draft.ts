import type { Receipt } from '../receipts.ts';
import { filesName, newChatName } from './attached-files.ts';
import type { DraftStore } from './drafts.ts';
import { joinPasted, parsePasted, pastedName } from './pasted-texts.ts';

type Sent = Pick<Receipt, 'draftName' | 'text'>;

/** The message went out: its draft is done with, except for words that came to it meanwhile. */
export function clearSent(drafts: DraftStore, { draftName, text }: Sent): void {
  const chatId = drafts.read(newChatName(draftName)) || draftName;
  const left = unsentOf(drafts, { draftName, text });
  drafts.replace(draftName, left);
  for (const each of [pastedName(draftName), filesName(chatId), newChatName(draftName)]) drafts.replace(each, '');
}

/** Restores the text of a discarded message as the draft, above text written meanwhile. */
export function restoreSent(drafts: DraftStore, { draftName, text }: Sent): void {
  const draft = drafts.read(draftName);
  if (unsentOf(drafts, { draftName, text }) !== draft) return;
  drafts.replace(draftName, joinPasted(text, [draft]));
}

function unsentOf(drafts: DraftStore, { draftName, text }: Sent): string {
  const draft = drafts.read(draftName);
  const pasted = parsePasted(drafts.read(pastedName(draftName)));
  if (joinPasted(draft, pasted) === text) return '';
  const beside = joinPasted('', pasted);
  const written = (text.endsWith(beside) ? text.slice(0, text.length - beside.length) : text).trimEnd();
  // A quotation comes below what was written.
  return draft.startsWith(`${written}\n\n`) ? draft.slice(written.length + 2) : draft;
}
