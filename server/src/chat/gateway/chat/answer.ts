import type { FinishReason, Usage } from '@homeport/contracts/chat/frames';
import { frontError } from '../../../platform/front-errors.ts';
import type { AnswerHead, FrontWriter, Send } from '../front.ts';

type EndReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** Writes an answer as a chat completion and, with `send`, in chunks. */
export function createChatWriter(
  head: AnswerHead,
  { send, hasUsage }: { send: Send | undefined; hasUsage: boolean },
): FrontWriter {
  const { id, created, model } = head;
  const indexes = new Map<string, number>();
  let text = '';
  let reasoning = '';
  let isFirst = true;

  function sendObject(rest: object): void {
    send?.(`data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, ...rest })}\n\n`);
  }

  function write(delta: object, finishReason: EndReason | null): void {
    if (send === undefined) return;
    const role = isFirst ? { role: 'assistant' } : {};
    isFirst = false;
    sendObject({ choices: [{ index: 0, delta: { ...role, ...delta }, finish_reason: finishReason }] });
  }

  return {
    sink: {
      text(content) {
        text += content;
        write({ content }, null);
      },
      reasoning(delta) {
        reasoning += delta;
        write({ reasoning_content: delta }, null);
      },
      toolStart({ id: callId, name }) {
        const index = indexes.size;
        indexes.set(callId, index);
        write({ tool_calls: [{ index, id: callId, type: 'function', function: { name, arguments: '' } }] }, null);
      },
      toolDelta: (callId, delta) =>
        write({ tool_calls: [{ index: indexes.get(callId) ?? 0, function: { arguments: delta } }] }, null),
    },
    start: () => {
      if (isFirst) write({ content: '' }, null);
    },
    end({ finishReason, toolCalls, usage }) {
      write({}, endReason(finishReason));
      if (hasUsage) sendObject({ choices: [], usage: counts(usage) });
      send?.('data: [DONE]\n\n');
      const calls = toolCalls.map(({ id: callId, name, arguments: json }) => ({
        id: callId,
        type: 'function',
        function: { name, arguments: json },
      }));
      const message = {
        role: 'assistant',
        content: text === '' && calls.length > 0 ? null : text,
        refusal: null,
        ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      };
      const choice = { index: 0, message, logprobs: null, finish_reason: endReason(finishReason) };
      return { id, object: 'chat.completion', created, model, choices: [choice], usage: counts(usage) };
    },
    fail: (error) => send?.(`data: ${JSON.stringify(frontError(error, 'openai', '').body)}\n\n`),
  };
}

function counts({ inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 }: Usage) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

function endReason(reason: FinishReason): EndReason {
  if (reason === 'tool-calls') return 'tool_calls';
  if (reason === 'content-filter') return 'content_filter';
  return reason === 'length' ? 'length' : 'stop';
}
