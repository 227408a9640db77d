import type { Message } from '@homeport/contracts/chat/conversations';

const writingTools = new Set(['bash', 'write_file', 'edit_file', 'delegate']);

/** True for an answer whose tools can change files of the workspace. */
export function usedWritingTools({ parts }: Pick<Message, 'parts'>): boolean {
  return parts.some((part) => part.type === 'dynamic-tool' && writingTools.has(part.toolName));
}
