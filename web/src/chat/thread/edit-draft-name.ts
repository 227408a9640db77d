/** The name under which the unfinished text of a message's editor is kept. */
export function editDraftName(messageId: string): string {
  return `edit:${messageId}`;
}
