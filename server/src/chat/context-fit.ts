import type { BranchMessage } from '../conversations/branches.ts';
import { parsePrompts } from './prompt.ts';
import type { ChatMessage } from './provider-messages.ts';
export async function fitContext(o: {
  newestFirst: AsyncIterable<BranchMessage>;
  model: { contextWindow: number; maxOutputTokens: number };
  tools: unknown[];
}): Promise<ChatMessage[]> {
  let left = o.model.contextWindow - o.model.maxOutputTokens - 64;
  const prompts: string[] = [];
  for await (const m of o.newestFirst) {
    left -= m.promptTokens ?? 0;
    if (left < 0 && prompts.length > 0) break;
    prompts.push(m.prompt ?? '');
  }
  return parsePrompts(prompts.reverse());
}
