import type { Completion } from '@homeport/contracts/catalogue/program-models';
import type { FinishReason, Usage } from '@homeport/contracts/chat/frames';
import type { CompletionResult, CompletionSink } from '../model/protocol.ts';

/** An answer in the shape that OpenAI's clients read. */
export type AnswerHead = { id: string; created: number; model: string };

type EndReason = Completion['choices'][number]['finish_reason'];
type Gathered = { text: string; reasoning: string };

/** Gathers an answer; `completion` builds one object from it. */
export function gathering(): { sink: CompletionSink; gathered: Gathered } {
  const gathered = { text: '', reasoning: '' };
  const ignore = (): void => undefined;
  const sink: CompletionSink = {
    text(delta) {
      gathered.text += delta;
    },
    reasoning(delta) {
      gathered.reasoning += delta;
    },
    textWasReasoning(text) {
      gathered.reasoning += text;
      gathered.text = '';
    },
    toolStart: ignore,
    toolDelta: ignore,
  };
  return { sink, gathered };
}

export function completion(
  head: AnswerHead,
  gathered: Gathered,
  { finishReason, toolCalls, usage }: Ended,
): Completion {
  const calls = toolCalls.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: text },
  }));
  return {
    id: head.id,
    object: 'chat.completion',
    created: head.created,
    model: head.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: gathered.text === '' && calls.length > 0 ? null : gathered.text,
          ...(gathered.reasoning === '' ? {} : { reasoning_content: gathered.reasoning }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        finish_reason: endReason(finishReason),
      },
    ],
    usage: counts(usage),
  };
}

/** How an answer ended; without a count of the provider it has the estimate. */
export type Ended = Pick<CompletionResult, 'finishReason' | 'toolCalls'> & { usage: Usage };

/** Sends an answer in chunks; the last of them is `end`. */
export function chunks(head: AnswerHead, send: (event: string) => void): { sink: CompletionSink; end: EndChunks } {
  const indexes = new Map<string, number>();
  let isFirst = true;
  const write = (delta: object, finishReason: EndReason | null): void => {
    const role = isFirst ? { role: 'assistant' } : {};
    isFirst = false;
    sendObject({ choices: [{ index: 0, delta: { ...role, ...delta }, finish_reason: finishReason }] });
  };
  const sendObject = (rest: object): void => {
    const { id, created, model } = head;
    send(`data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, ...rest })}\n\n`);
  };
  return {
    sink: {
      text: (content) => write({ content }, null),
      reasoning: (reasoning) => write({ reasoning_content: reasoning }, null),
      toolStart({ id, name }) {
        const index = indexes.size;
        indexes.set(id, index);
        write({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }, null);
      },
      toolDelta: (id, delta) =>
        write({ tool_calls: [{ index: indexes.get(id) ?? 0, function: { arguments: delta } }] }, null),
    },
    end({ finishReason, usage }, hasUsage) {
      write({}, endReason(finishReason));
      if (hasUsage) sendObject({ choices: [], usage: counts(usage) });
      send('data: [DONE]\n\n');
    },
  };
}

type EndChunks = (ended: Ended, hasUsage: boolean) => void;

function counts({ inputTokens, outputTokens }: Usage): Completion['usage'] {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

function endReason(reason: FinishReason): EndReason {
  if (reason === 'tool-calls') return 'tool_calls';
  if (reason === 'content-filter') return 'content_filter';
  return reason === 'length' ? 'length' : 'stop';
}
