import type { ChatMessage, PicturePart } from '../provider-messages.ts';

/** Pictures of tool results, for protocols whose results are text only: they follow the last result of a step. */
export function picturesAfterResults(messages: readonly ChatMessage[]): ChatMessage[] {
  const placed: ChatMessage[] = [];
  let waiting: PicturePart[] = [];
  const release = (): void => {
    if (waiting.length === 0) return;
    const label = '[Pictures in the results of the tools above]';
    placed.push({ role: 'user', content: [{ type: 'text', text: label }, ...waiting] });
    waiting = [];
  };
  for (const message of messages) {
    if (message.role !== 'tool') {
      release();
      placed.push(message);
      continue;
    }
    const { pictures = [], ...plain } = message;
    placed.push(plain);
    waiting.push(...pictures);
  }
  release();
  return placed;
}
