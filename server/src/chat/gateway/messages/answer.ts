import type { FinishReason, Usage } from '@homeport/contracts/chat/frames';
import { frontError } from '../../../platform/front-errors.ts';
import { argumentsObject } from '../../model/request-parts.ts';
import { type AnswerHead, type FrontWriter, isWholeJson, namedEvent, type Send } from '../front.ts';
import { isAnthropicBlock, type Sealer, sealState } from '../sealed-state.ts';

type TextBlock = { type: 'text'; text: string };
type ThinkingBlock = { type: 'thinking'; thinking: string; signature: string };
type ToolBlock = { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> };
type Block = TextBlock | ThinkingBlock | ToolBlock | { type: 'redacted_thinking'; data: string };
type OpenCall = { index: number; json: string; isOpen: boolean };

/** Writes an answer as Anthropic's message and, with `send`, as its events. */
export function createMessagesWriter(
  head: AnswerHead,
  { send, inputTokens, sealer, requestId }: MessagesOptions,
): FrontWriter {
  const blocks: Block[] = [];
  const calls = new Map<string, OpenCall>();
  /** The text or thinking block that is open. */
  let current: { index: number; block: TextBlock | ThinkingBlock } | undefined;
  let isStarted = false;

  const message = (content: Block[], stopReason: string | null, usage: object) => ({
    id: head.id,
    type: 'message',
    role: 'assistant',
    model: head.model,
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage,
  });

  function emit(event: { type: string; [member: string]: unknown }): void {
    start();
    send?.(namedEvent(event));
  }

  function start(): void {
    if (isStarted) return;
    isStarted = true;
    emit({ type: 'message_start', message: message([], null, counts({ inputTokens, outputTokens: 0 })) });
  }

  function open<B extends Block>(block: B): number {
    const index = blocks.push(block) - 1;
    emit({ type: 'content_block_start', index, content_block: { ...block } });
    return index;
  }

  function stop(index: number): void {
    emit({ type: 'content_block_stop', index });
  }

  function delta(index: number, change: { type: string; [member: string]: unknown }): void {
    emit({ type: 'content_block_delta', index, delta: change });
  }

  function closeCurrent(): void {
    if (current !== undefined) stop(current.index);
    current = undefined;
  }

  /** Calls whose arguments are whole; a server can send several calls in turns. */
  function closeCalls(all: boolean): void {
    for (const call of calls.values()) {
      if (!call.isOpen || !(all || isWholeJson(call.json))) continue;
      call.isOpen = false;
      stop(call.index);
    }
  }

  function openText(type: 'text' | 'thinking'): { index: number; block: TextBlock | ThinkingBlock } {
    if (current?.block.type === type) return current;
    closeCurrent();
    closeCalls(false);
    const block: TextBlock | ThinkingBlock =
      type === 'text' ? { type, text: '' } : { type, thinking: '', signature: '' };
    current = { index: open(block), block };
    return current;
  }

  function sign(signature: string): void {
    const { index, block } = openText('thinking');
    if (block.type === 'thinking') block.signature = signature;
    delta(index, { type: 'signature_delta', signature });
    closeCurrent();
  }

  function redact(data: string): void {
    closeCurrent();
    closeCalls(false);
    stop(open({ type: 'redacted_thinking', data }));
  }

  return {
    start,
    sink: {
      text(text) {
        const { index, block } = openText('text');
        if (block.type === 'text') block.text += text;
        delta(index, { type: 'text_delta', text });
      },
      reasoning(thinking) {
        const { index, block } = openText('thinking');
        if (block.type === 'thinking') block.thinking += thinking;
        delta(index, { type: 'thinking_delta', thinking });
      },
      toolStart({ id, name }) {
        closeCurrent();
        closeCalls(false);
        calls.set(id, { index: open({ type: 'tool_use', id, name, input: {} }), json: '', isOpen: true });
      },
      toolDelta(id, json) {
        const call = calls.get(id);
        if (call === undefined || json === '') return;
        call.json += json;
        delta(call.index, { type: 'input_json_delta', partial_json: json });
      },
      state(item) {
        if (sealer === undefined) return;
        const { kind } = sealer.resolved.provider;
        if (!isAnthropicBlock(kind, item)) sign(sealState(sealer, { item }));
        else if (typeof item.signature === 'string') sign(item.signature);
        else if (typeof item.data === 'string') redact(item.data);
      },
    },
    end({ finishReason, usage, sealedState, toolCalls }) {
      closeCurrent();
      closeCalls(true);
      for (const { id, arguments: json } of toolCalls) {
        const block = blocks[calls.get(id)?.index ?? -1];
        if (block?.type === 'tool_use') block.input = argumentsObject(json);
      }
      if (sealedState !== undefined) redact(sealedState);
      const stopReason = stopReasonOf(finishReason);
      emit({ type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage: counts(usage) });
      emit({ type: 'message_stop' });
      return message(blocks, stopReason, counts(usage));
    },
    fail: (error) =>
      send?.(`event: error\ndata: ${JSON.stringify(frontError(error, 'anthropic', requestId).body)}\n\n`),
  };
}

export type MessagesOptions = {
  send: Send | undefined;
  /** An estimate: the provider's count comes at the end. */
  inputTokens: number;
  sealer: Sealer | undefined;
  requestId: string;
};

/** Anthropic counts tokens that were read from the cache or written to it apart. */
function counts({ inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 }: Usage) {
  return {
    input_tokens: Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedInputTokens,
    output_tokens: outputTokens,
  };
}

function stopReasonOf(reason: FinishReason): string {
  if (reason === 'tool-calls') return 'tool_use';
  if (reason === 'content-filter') return 'refusal';
  return reason === 'length' ? 'max_tokens' : 'end_turn';
}
