import type { FinishReason, Usage } from '@homeport/contracts/chat/frames';
import type { ApiError } from '@homeport/contracts/errors';
import { frontErrorCode } from '../../../platform/front-errors.ts';
import { argumentsObject } from '../../model/request-parts.ts';
import { type AnswerHead, type Ended, type FrontWriter, isWholeJson, namedEvent, type Send } from '../front.ts';
import { type Sealer, sealState } from '../sealed-state.ts';
import {
  type CallOutput,
  type MessageOutput,
  type OutputItem,
  outputText,
  type ReasoningOutput,
  summaryText,
} from './items.ts';
import type { ParsedResponses } from './request.ts';

export type ResponsesOptions = Pick<ParsedResponses, 'echo' | 'declared' | 'wantsState'> & {
  send: Send | undefined;
  sealer: Sealer | undefined;
  createId: () => string;
  /** In seconds. */
  now: () => number;
};

type Open<Item> = { index: number; item: Item };
type OpenCall = Open<CallOutput> & { json: string; isOpen: boolean };

/** Writes an answer as a response of Open Responses and, with `send`, as its events. */
export function createResponsesWriter(head: AnswerHead, options: ResponsesOptions): FrontWriter {
  const { send, sealer, declared, wantsState } = options;
  const output: OutputItem[] = [];
  const calls = new Map<string, OpenCall>();
  let message: Open<MessageOutput> | undefined;
  let reasoning: Open<ReasoningOutput> | undefined;
  let isStarted = false;
  let sequence = 0;

  const responseWith = (rest: object) => ({ ...responseOf(head, options.echo), output, ...rest });

  function emit(type: string, members: object): void {
    start();
    send?.(namedEvent({ type, sequence_number: sequence++, ...members }));
  }

  function start(): void {
    if (isStarted) return;
    isStarted = true;
    const response = responseWith({ status: 'in_progress', output: [] });
    emit('response.created', { response });
    emit('response.in_progress', { response });
  }

  function add<Item extends OutputItem>(item: Item): Open<Item> {
    const index = output.push(item) - 1;
    emit('response.output_item.added', { output_index: index, item: structuredClone(item) });
    return { index, item };
  }

  function finish({ index, item }: Open<OutputItem>, status: 'completed' | 'incomplete' = 'completed'): void {
    item.status = status;
    emit('response.output_item.done', { output_index: index, item: structuredClone(item) });
  }

  function openMessage(): Open<MessageOutput> {
    if (message !== undefined) return message;
    closeReasoning();
    closeCalls(false);
    message = add({
      id: `msg_${options.createId()}`,
      type: 'message',
      status: 'in_progress',
      role: 'assistant',
      content: [],
    });
    message.item.content.push(outputText(''));
    emit('response.content_part.added', { ...placeOf(message), content_index: 0, part: outputText('') });
    return message;
  }

  function closeMessage(status: 'completed' | 'incomplete' = 'completed'): void {
    if (message === undefined) return;
    const text = message.item.content[0]?.text ?? '';
    const place = { ...placeOf(message), content_index: 0 };
    emit('response.output_text.done', { ...place, text, logprobs: [] });
    emit('response.content_part.done', { ...place, part: outputText(text) });
    finish(message, status);
    message = undefined;
  }

  function openReasoning(): Open<ReasoningOutput> {
    if (reasoning !== undefined) return reasoning;
    closeMessage();
    closeCalls(false);
    reasoning = add({ id: `rs_${options.createId()}`, type: 'reasoning', status: 'in_progress', summary: [] });
    return reasoning;
  }

  function addSummary(delta: string): void {
    const open = openReasoning();
    const { summary } = open.item;
    const place = { ...placeOf(open), summary_index: 0 };
    if (summary.length === 0) {
      summary.push(summaryText(''));
      emit('response.reasoning_summary_part.added', { ...place, part: summaryText('') });
    }
    const [part] = summary;
    if (part !== undefined) part.text += delta;
    emit('response.reasoning_summary_text.delta', { ...place, delta });
  }

  function closeReasoning(): void {
    if (reasoning === undefined) return;
    const [part] = reasoning.item.summary;
    if (part !== undefined) {
      const place = { ...placeOf(reasoning), summary_index: 0 };
      emit('response.reasoning_summary_text.done', { ...place, text: part.text });
      emit('response.reasoning_summary_part.done', { ...place, part: { ...part } });
    }
    finish(reasoning);
    reasoning = undefined;
  }

  function addState(sealed: string): void {
    if (!wantsState) return;
    openReasoning().item.encrypted_content = sealed;
    closeReasoning();
  }

  function startCall(callId: string, name: string): void {
    closeMessage();
    closeReasoning();
    closeCalls(false);
    const { type, ...named } = declared.get(name) ?? { type: 'function', name };
    const shared = { status: 'in_progress', call_id: callId, ...named } as const;
    const item: CallOutput =
      type === 'custom'
        ? { id: `ctc_${options.createId()}`, type: 'custom_tool_call', ...shared, input: '' }
        : { id: `fc_${options.createId()}`, type: 'function_call', ...shared, arguments: '' };
    calls.set(callId, { ...add(item), json: '', isOpen: true });
  }

  function closeCall(call: OpenCall, json: string): void {
    call.isOpen = false;
    const { item } = call;
    if (item.type === 'function_call') {
      item.arguments = json;
      emit('response.function_call_arguments.done', { ...placeOf(call), name: item.name, arguments: json });
    } else {
      const { input } = argumentsObject(json);
      item.input = typeof input === 'string' ? input : json;
      emit('response.custom_tool_call_input.delta', { ...placeOf(call), delta: item.input });
      emit('response.custom_tool_call_input.done', { ...placeOf(call), input: item.input });
    }
    finish(call);
  }

  /** Calls whose arguments are whole; a server can send several calls in turns. */
  function closeCalls(all: boolean): void {
    for (const call of calls.values()) if (call.isOpen && (all || isWholeJson(call.json))) closeCall(call, call.json);
  }

  function endAll({ finishReason, toolCalls, sealedState }: Ended): void {
    closeReasoning();
    closeMessage(isCut(finishReason) ? 'incomplete' : 'completed');
    for (const { id, arguments: json } of toolCalls) {
      const call = calls.get(id);
      if (call?.isOpen === true) closeCall(call, json);
    }
    closeCalls(true);
    if (sealedState === undefined) return;
    const first = output.find((item) => item.type === 'reasoning');
    // In a stream, an item that has ended does not change any more.
    if (send === undefined && wantsState && first !== undefined) first.encrypted_content = sealedState;
    else addState(sealedState);
  }

  return {
    start,
    sink: {
      text(delta) {
        const open = openMessage();
        const [part] = open.item.content;
        if (part !== undefined) part.text += delta;
        emit('response.output_text.delta', { ...placeOf(open), content_index: 0, delta, logprobs: [] });
      },
      reasoning: addSummary,
      toolStart: ({ id, name }) => startCall(id, name),
      toolDelta(id, delta) {
        const call = calls.get(id);
        if (call === undefined || delta === '') return;
        call.json += delta;
        if (call.item.type === 'function_call') {
          emit('response.function_call_arguments.delta', { ...placeOf(call), delta });
        }
      },
      state(item) {
        if (sealer !== undefined) addState(sealState(sealer, { item }));
      },
    },
    end(ended) {
      endAll(ended);
      const { finishReason, usage } = ended;
      const reason = isCut(finishReason) ? incompleteReason(finishReason) : undefined;
      const response = responseWith({
        status: reason === undefined ? 'completed' : 'incomplete',
        completed_at: reason === undefined ? options.now() : null,
        incomplete_details: reason === undefined ? null : { reason },
        usage: counts(usage),
      });
      emit(reason === undefined ? 'response.completed' : 'response.incomplete', { response });
      return response;
    },
    fail(error: ApiError) {
      const { message: text } = error;
      const failure = { code: frontErrorCode(error), message: text };
      emit('response.failed', { response: responseWith({ status: 'failed', error: failure }) });
    },
  };
}

function placeOf({ index, item }: Open<OutputItem>) {
  return { item_id: item.id, output_index: index };
}

function responseOf(head: AnswerHead, echo: ParsedResponses['echo']) {
  return {
    id: head.id,
    object: 'response',
    created_at: head.created,
    completed_at: null,
    status: 'in_progress',
    incomplete_details: null,
    model: head.model,
    ...echo,
    error: null,
    usage: null,
  };
}

function isCut(reason: FinishReason): boolean {
  return reason === 'length' || reason === 'content-filter';
}

function incompleteReason(reason: FinishReason): string {
  return reason === 'length' ? 'max_output_tokens' : 'content_filter';
}

function counts({ inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 }: Usage) {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens },
    output_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}
