import type { AnswerContext } from '@homeport/contracts/chat/context';

const shareKinds = ['instructions', 'tools', 'summary', 'messages', 'files', 'answerRoom', 'free'] as const;
type ShareKind = (typeof shareKinds)[number];

/** One part of the window in tokens. */
export type Share = { kind: ShareKind; tokens: number };

type Measured = Pick<AnswerContext, 'instructions' | 'tools' | 'summary' | 'tokens'>;

/**
 * Shares of the context window in sending order. The parts are estimates, scaled to add up to the total, which is the
 * provider's count if there is one.
 */
export function sharesOf({ instructions, tools, summary, tokens }: Measured): Share[] {
  const estimates = {
    instructions: sum(instructions),
    tools: sum(tools),
    summary: summary?.tokens ?? 0,
    messages: tokens.messages,
    files: tokens.files ?? 0,
  };
  const estimated = Object.values(estimates).reduce((all, each) => all + each, 0);
  const scale = estimated === 0 ? 0 : tokens.total / estimated;
  const parts = shareKinds.flatMap((kind) => {
    if (kind === 'answerRoom' || kind === 'free') return [];
    return [{ kind, tokens: Math.round(estimates[kind] * scale) }];
  });
  const answerRoom = Math.min(tokens.answerRoom, Math.max(0, tokens.window - tokens.total));
  const free = Math.max(0, tokens.window - tokens.total - answerRoom);
  const shares: Share[] = [...parts, { kind: 'answerRoom', tokens: answerRoom }, { kind: 'free', tokens: free }];
  return shares.filter((share) => share.tokens > 0);
}

/** Numbers of messages that were sent, summarized and omitted. */
export function countStates(messages: AnswerContext['messages']): Record<'sent' | 'summarized' | 'omitted', number> {
  const counts = { sent: 0, summarized: 0, omitted: 0 };
  for (const { state } of messages) counts[state] += 1;
  return counts;
}

function sum(parts: readonly { tokens: number }[]): number {
  return parts.reduce((all, { tokens }) => all + tokens, 0);
}
