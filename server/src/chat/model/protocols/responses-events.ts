import { finishDetailMax } from '@homeport/contracts/chat/finish-reasons';
import type { FinishReason, Usage } from '@homeport/contracts/chat/frames';
import { droppedConnection, streamedError, unreadableAnswer } from '../failures/provider-errors.ts';
import type { AnswerParser, CompletionBounds, CompletionSink } from '../protocol.ts';
import { createAnswerGatherer } from '../stream/answer-gatherer.ts';
import { createPictureReader } from '../stream/answer-pictures.ts';
import { createSourceReader } from '../stream/answer-sources.ts';
import { explained, explanationOf } from '../stream/finish-reasons.ts';
import { createJsonEvents } from '../stream/json-events.ts';
import { isRecord } from '../stream/storable-text.ts';
import { createThinkSplitter } from '../stream/think-tags.ts';
import { createToolCallAssembler } from '../stream/tool-call-assembly.ts';
import { count, usageOf } from '../usage.ts';

/** An output item so far. Its `done` event may repeat what its deltas brought. */
type OpenItem = {
  type: unknown;
  call: number | undefined;
  heard: Set<string>;
  done: Record<string, unknown> | undefined;
};

const separator = '\n\n';

/** Reads the event stream of `/responses`, OpenAI's and others'. */
export function createResponsesParser(
  sink: CompletionSink,
  createId: () => string,
  bounds: CompletionBounds,
): AnswerParser {
  const answer = createAnswerGatherer(sink, bounds.maxTextLength);
  // Open models answer here too, some with thinking in tags.
  const think = createThinkSplitter(answer);
  const tools = createToolCallAssembler(sink, createId, bounds);
  const sources = createSourceReader(sink, answer.flush);
  const pictures = createPictureReader(sink, beforePicture);
  const items = new Map<string, OpenItem>();
  let lastSummary: string | undefined;
  let usage: Usage | undefined;
  let finish: FinishReason | undefined;
  let refusal = '';
  let isDone = false;

  const feed = createJsonEvents(bounds.maxEventLength, {
    event(event) {
      if (!isDone) readEvent(event);
    },
    /** Some servers end without the event that has the whole answer. */
    done() {
      if (items.size > 0) finish ??= 'other';
    },
  });

  function readEvent(event: Record<string, unknown>): void {
    switch (event.type) {
      case 'response.output_text.delta':
        addText(event, event.delta);
        return;
      case 'response.output_text.done':
        if (!itemOf(event).heard.has('text')) addText(event, event.text);
        return;
      case 'response.refusal.delta':
        addRefusal(event, event.delta);
        return;
      case 'response.reasoning_summary_text.delta':
        addReasoning(event, event.delta, `s${event.summary_index}`);
        return;
      case 'response.reasoning_text.delta':
      case 'response.reasoning.delta':
        addReasoning(event, event.delta, `r${event.content_index}`);
        return;
      case 'response.output_text.annotation.added':
        sources.entry(event.annotation);
        return;
      case 'response.function_call_arguments.delta':
        addArguments(itemOf(event), event.delta);
        return;
      case 'response.function_call_arguments.done':
        if (!itemOf(event).heard.has('arguments')) addArguments(itemOf(event), event.arguments);
        return;
      case 'response.output_item.added':
        if (isRecord(event.item)) startItem(placed(event, event.item), event.item);
        return;
      case 'response.output_item.done':
        if (isRecord(event.item)) endItem(placed(event, event.item), event.item);
        return;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.done':
        if (isRecord(event.response)) readEnd(event.response);
        return;
      case 'response.cancelled':
        throw droppedConnection();
      default:
    }
  }

  /** Items are identified by position; some servers change their ids on the way. */
  function itemOf(event: Record<string, unknown>): OpenItem {
    const key = typeof event.output_index === 'number' ? `at ${event.output_index}` : `id ${event.item_id}`;
    let item = items.get(key);
    if (item === undefined) {
      if (items.size >= bounds.maxToolCalls * 4) throw unreadableAnswer('answer');
      item = { type: undefined, call: undefined, heard: new Set(), done: undefined };
      items.set(key, item);
    }
    return item;
  }

  function startItem(event: Record<string, unknown>, start: Record<string, unknown>): OpenItem {
    const item = itemOf(event);
    item.type = start.type;
    if (start.type === 'function_call') startCall(item, start);
    return item;
  }

  function startCall(item: OpenItem, start: Record<string, unknown>): void {
    if (item.call !== undefined) return;
    item.call = items.size;
    think.end();
    answer.flush();
    tools.push([{ index: item.call, id: start.call_id ?? start.id, function: { name: start.name } }]);
    addArguments(item, start.arguments);
  }

  function addArguments(item: OpenItem, given: unknown): void {
    const json = isRecord(given) ? JSON.stringify(given) : given;
    if (typeof json !== 'string' || json === '') return;
    if (item.call === undefined) startCall(item, {});
    hear(item, 'function_call', 'arguments');
    tools.push([{ index: item.call, function: { arguments: json } }]);
  }

  function addText(event: Record<string, unknown>, text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    answer.count(text.length);
    hear(itemOf(event), 'message', 'text');
    think.push(answer.clean(text));
  }

  function addRefusal(event: Record<string, unknown>, text: unknown): void {
    if (typeof text === 'string' && refusal.length < finishDetailMax) refusal += text.slice(0, finishDetailMax);
    addText(event, text);
  }

  function beforePicture(length: number): void {
    answer.count(length);
    think.end();
    answer.flush();
  }

  /** Summaries come in parts, which are paragraphs. */
  function addReasoning(event: Record<string, unknown>, text: unknown, part: string): void {
    if (typeof text !== 'string' || text === '') return;
    answer.count(text.length);
    hear(itemOf(event), 'reasoning', 'reasoning');
    think.end();
    const place = `${event.output_index ?? event.item_id} ${part}`;
    if (lastSummary !== undefined && lastSummary !== place) answer.reasoning(separator);
    lastSummary = place;
    answer.reasoning(answer.clean(text));
  }

  /** Takes from the complete item everything that no delta contained, and the state to send back to the model. */
  function endItem(event: Record<string, unknown>, done: Record<string, unknown>): void {
    const item = startItem(event, done);
    if (item.done !== undefined) return;
    item.done = done;
    answer.count(typeof done.encrypted_content === 'string' ? done.encrypted_content.length : 0);
    if (done.type === 'image_generation_call') {
      pictures.entry(done);
      // Its base64 is not kept until the end.
      item.done = { type: done.type, id: done.id };
    }
    if (done.type === 'message') for (const part of partsOf(done.content)) sources.list(part.annotations);
    if (done.type === 'message' && !item.heard.has('text')) {
      for (const part of partsOf(done.content)) {
        if (part.type === 'refusal') addRefusal(event, part.refusal);
        else addText(event, part.text);
      }
    } else if (done.type === 'reasoning' && !item.heard.has('reasoning')) {
      records(done.summary).forEach((part, at) => {
        addReasoning(event, part.text, `s${at}`);
      });
      partsOf(done.content).forEach((part, at) => {
        addReasoning(event, part.text, `r${at}`);
      });
    } else if (done.type === 'function_call' && !item.heard.has('arguments')) addArguments(item, done.arguments);
    if (done.type === 'reasoning') passState(item);
  }

  function passState(item: OpenItem): void {
    answer.flush();
    for (const state of closedItem(item)) sink.state?.(state);
  }

  function readEnd(response: Record<string, unknown>): void {
    usage = readUsage(response.usage) ?? usage;
    if (response.status === 'failed' || (isRecord(response.error) && response.status !== 'incomplete')) {
      throw streamedError(response.error);
    }
    const heard = new Set([...items.values()].map((item) => item.type));
    records(response.output).forEach((item, at) => {
      const index = items.has(`at ${at}`) ? at : undefined;
      const known = items.get(`at ${at}`) ?? items.get(`id ${item.id}`);
      // Servers whose event indexes differ from the output indexes have already sent the item.
      const isNew = known === undefined ? !heard.has(item.type) : known.type === item.type;
      if (isNew) endItem({ output_index: index, item_id: item.id ?? `end ${at}` }, item);
    });
    const { output_text: text } = response;
    if (items.size === 0 && typeof text === 'string') addText({ output_index: 0 }, text);
    const details = isRecord(response.incomplete_details) ? response.incomplete_details : {};
    finish = refusal !== '' ? 'content-filter' : response.status === 'incomplete' ? incomplete(details.reason) : 'stop';
    isDone = true;
  }

  return {
    feed,
    flush: answer.flush,
    readWhole(value) {
      if (!isRecord(value)) throw unreadableAnswer('answer');
      if (value.object !== 'response') throw unreadableAnswer('answer');
      readEnd(value);
    },
    end() {
      const half = answer.takeHalf();
      if (half !== '') think.push(half);
      think.end();
      answer.flush();
      if (finish === undefined) return undefined;
      const toolCalls = tools.finish();
      const stepState = toolCalls.length === 0 ? [] : [...items.values()].flatMap(closedItem);
      const hasReasoning = stepState.some((item) => item.type === 'reasoning');
      return {
        finishReason: toolCalls.length > 0 && finish === 'stop' ? 'tool-calls' : finish,
        ...(refusal === '' ? {} : { isRefusal: true }),
        ...explained(explanationOf(refusal)),
        usage,
        toolCalls,
        ...(hasReasoning ? { stepState } : {}),
      };
    },
    get isDone() {
      return isDone;
    },
    /** Here one event is both. */
    hasFinish: false,
  };
}

function hear(item: OpenItem, type: string, what: string): void {
  item.type ??= type;
  item.heard.add(what);
}

/** Sets the id of an item that arrives whole to the id that its deltas use. */
function placed(event: Record<string, unknown>, item: Record<string, unknown>): Record<string, unknown> {
  return { output_index: event.output_index, item_id: event.item_id ?? item.id };
}

function incomplete(reason: unknown): FinishReason {
  if (reason === 'max_output_tokens' || reason === 'max_tokens' || reason === 'length') return 'length';
  return reason === 'content_filter' ? 'content-filter' : 'other';
}

/** The item as it is sent back. A provider that stores nothing cannot use reasoning without its encrypted content. */
function closedItem({ done }: OpenItem): Record<string, unknown>[] {
  if (done === undefined) return [];
  if (done.type === 'reasoning') {
    const { id, summary, encrypted_content } = done;
    if (typeof encrypted_content !== 'string') return [];
    return [{ type: 'reasoning', id, summary: records(summary), encrypted_content }];
  }
  if (done.type === 'function_call') {
    const { call_id, name, arguments: json } = done;
    return [{ type: 'function_call', call_id, name, arguments: json }];
  }
  if (done.type !== 'message') return [];
  const text = partsOf(done.content)
    .map((part) => String(part.text ?? part.refusal ?? ''))
    .join('');
  return text === '' ? [] : [{ role: 'assistant', content: text }];
}

/** The parts of a message or reasoning; a text alone is one. */
function partsOf(content: unknown): Record<string, unknown>[] {
  return typeof content === 'string' ? [{ text: content }] : records(content);
}

function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function readUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const input = isRecord(value.input_tokens_details) ? value.input_tokens_details : {};
  const output = isRecord(value.output_tokens_details) ? value.output_tokens_details : {};
  return usageOf({
    inputTokens: count(value.input_tokens ?? value.prompt_tokens) ?? 0,
    outputTokens: count(value.output_tokens ?? value.completion_tokens) ?? 0,
    reasoningTokens: count(output.reasoning_tokens),
    cachedInputTokens: count(input.cached_tokens),
    cacheWriteTokens: count(input.cache_write_tokens),
  });
}
