/** Options for a conversation that does not exist yet. */
export type NewChat = { projectId: string | undefined; assistantId: string | undefined; temporary: boolean };

/** The body of the `POST /api/chats` that makes it. */
export function newChatBody(id: string, { projectId, assistantId, temporary }: NewChat) {
  return {
    id,
    ...(projectId === undefined ? {} : { projectId }),
    ...(assistantId === undefined ? {} : { assistantId }),
    ...(temporary ? { temporary } : {}),
  };
}

/** The draft of the page of a new conversation: one for each project, and others for temporary ones. */
export function newDraftName({ projectId, temporary }: Pick<NewChat, 'projectId' | 'temporary'>): string {
  const name = projectId === undefined ? 'new' : `new:${projectId}`;
  return temporary ? `${name}:temporary` : name;
}
