import type { Usage } from '@homeport/contracts/chat/frames';
import { droppedConnection, unreadableAnswer } from '../failures/provider-errors.ts';
import type { AnswerParser, CompletionBounds, CompletionSink } from '../protocol.ts';
import { argumentsObject } from '../request-parts.ts';
import { createAnswerGatherer } from '../stream/answer-gatherer.ts';
import { createPictureReader } from '../stream/answer-pictures.ts';
import { createSourceReader } from '../stream/answer-sources.ts';
import { explained, explanationOf, readReason, settleReason } from '../stream/finish-reasons.ts';
import { createJsonEvents } from '../stream/json-events.ts';
import { isRecord } from '../stream/storable-text.ts';
import { createThinkSplitter } from '../stream/think-tags.ts';
import { createToolCallAssembler } from '../stream/tool-call-assembly.ts';
import { count, usageOf } from '../usage.ts';

/** A content block so far: its members, and the texts that are still growing. */
type OpenBlock = { at: number; start: Record<string, unknown>; text: string; signature: string; json: string };

/** Reads the event stream of Anthropic's `/v1/messages`. */
export function createAnthropicParser(
  sink: CompletionSink,
  createId: () => string,
  bounds: CompletionBounds,
): AnswerParser {
  const answer = createAnswerGatherer(sink, bounds.maxTextLength);
  // Local servers answer here too, some with thinking in tags.
  const think = createThinkSplitter(answer);
  const tools = createToolCallAssembler(sink, createId, bounds);
  const sources = createSourceReader(sink, answer.flush);
  const pictures = createPictureReader(sink, (length) => {
    answer.count(length);
    think.end();
    answer.flush();
  });
  const blocks: OpenBlock[] = [];
  const byIndex = new Map<number, OpenBlock>();
  const counts: Record<string, unknown> = {};
  let messageId: unknown;
  let stopReason: string | undefined;
  let explanation: string | undefined;
  let isDone = false;
  let hasStepState = false;

  const feed = createJsonEvents(bounds.maxEventLength, {
    event(event) {
      if (!isDone) readEvent(event);
    },
    done() {
      isDone = true;
    },
  });

  function readEvent(event: Record<string, unknown>): void {
    switch (event.type) {
      case 'message_start':
        if (isRecord(event.message)) beginMessage(event.message);
        return;
      case 'content_block_start':
        if (isRecord(event.content_block)) startBlock(event.index, event.content_block);
        return;
      case 'content_block_delta':
        if (isRecord(event.delta)) readDelta(event.index, event.delta);
        return;
      case 'content_block_stop':
        if (typeof event.index === 'number') passState(byIndex.get(event.index));
        return;
      case 'message_delta':
        if (isRecord(event.delta)) readStop(event.delta);
        addCounts(event.usage);
        return;
      case 'message_stop':
        isDone = true;
        return;
      default:
    }
  }

  function beginMessage({ id, usage }: Record<string, unknown>): void {
    // A gateway lost its connection and asked again: the new answer does not continue the one that has begun.
    if (blocks.length > 0 && messageId !== undefined && id !== messageId) throw droppedConnection();
    messageId = id;
    addCounts(usage);
  }

  function readStop({ stop_reason: reason, stop_details: details }: Record<string, unknown>): void {
    if (typeof reason === 'string') stopReason = reason;
    if (isRecord(details)) explanation = explanationOf(details.explanation, details.category) ?? explanation;
  }

  function startBlock(index: unknown, start: Record<string, unknown>): void {
    const block: OpenBlock = { at: blocks.length, start, text: '', signature: '', json: '' };
    blocks.push(block);
    if (blocks.length > bounds.maxToolCalls * 4) throw unreadableAnswer('answer');
    if (typeof index === 'number') byIndex.set(index, block);
    if (Array.isArray(start.citations)) for (const each of start.citations) addCitation(each);
    if (start.type === 'text') addText(block, start.text);
    else if (start.type === 'thinking') {
      hasStepState = true;
      addThinking(block, start.thinking);
      addSignature(block, start.signature);
    } else if (start.type === 'tool_use') {
      think.end();
      answer.flush();
      tools.push([{ index: block.at, id: start.id, function: { name: start.name } }]);
      if (isRecord(start.input) && Object.keys(start.input).length > 0) addJson(block, JSON.stringify(start.input));
    } else if (start.type === 'image') {
      pictures.entry(start);
      block.start = { type: 'text' };
    } else {
      hasStepState = true;
      answer.count(JSON.stringify(start).length);
      readFound(start);
    }
  }

  function passState(block: OpenBlock | undefined): void {
    if (block === undefined || (block.start.type !== 'thinking' && block.start.type !== 'redacted_thinking')) return;
    answer.flush();
    for (const item of closedBlock(block)) sink.state?.(item);
  }

  /** Results of the maker's own search and reading. */
  function readFound({ type, content }: Record<string, unknown>): void {
    if (type === 'web_search_tool_result') sources.list(content);
    if (type !== 'web_fetch_tool_result' || !isRecord(content)) return;
    const page = isRecord(content.content) ? content.content : {};
    sources.url(content.url, page.title);
  }

  function addCitation(citation: unknown): void {
    if (!isRecord(citation)) return;
    const { type, document_title: title } = citation;
    if (title === undefined || title === null) sources.entry(citation);
    else sources.document(title, type === 'page_location' ? 'application/pdf' : 'text/plain');
  }

  function readDelta(index: unknown, delta: Record<string, unknown>): void {
    const known = typeof index === 'number' ? byIndex.get(index) : blocks.at(-1);
    // Some gateways begin no blocks.
    if (known === undefined && delta.type === 'text_delta') startBlock(index, { type: 'text' });
    const block = known ?? blocks.at(-1);
    if (block === undefined) return;
    if (delta.type === 'text_delta') addText(block, delta.text);
    else if (delta.type === 'thinking_delta') addThinking(block, delta.thinking);
    else if (delta.type === 'signature_delta') addSignature(block, delta.signature);
    else if (delta.type === 'input_json_delta') addJson(block, delta.partial_json);
    else if (delta.type === 'citations_delta') addCitation(delta.citation);
  }

  function addText(block: OpenBlock, text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    answer.count(text.length);
    block.text += text;
    think.push(answer.clean(text));
  }

  function addThinking(block: OpenBlock, text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    answer.count(text.length);
    block.text += text;
    think.end();
    answer.reasoning(answer.clean(text));
  }

  function addSignature(block: OpenBlock, signature: unknown): void {
    if (typeof signature !== 'string') return;
    answer.count(signature.length);
    // The last one counts; there is one a block.
    block.signature = signature === '' ? block.signature : signature;
  }

  function addJson(block: OpenBlock, json: unknown): void {
    if (typeof json !== 'string' || json === '') return;
    block.json += json;
    if (block.start.type === 'tool_use') {
      answer.flush();
      tools.push([{ index: block.at, function: { arguments: json } }]);
    } else answer.count(json.length);
  }

  /** Counts are cumulative, and each event has some of them. */
  function addCounts(usage: unknown): void {
    if (!isRecord(usage)) return;
    for (const [name, value] of Object.entries(usage)) {
      // Some servers repeat the counts of the beginning as 0.
      if (value !== null && value !== undefined && !(value === 0 && counts[name] !== undefined)) counts[name] = value;
    }
  }

  return {
    feed,
    flush: answer.flush,
    readWhole(value) {
      if (!isRecord(value)) throw unreadableAnswer('answer');
      const content = typeof value.content === 'string' ? [{ type: 'text', text: value.content }] : value.content;
      if (!Array.isArray(content)) throw unreadableAnswer('answer');
      for (const block of content) {
        if (!isRecord(block)) continue;
        startBlock(undefined, block);
        passState(blocks.at(-1));
      }
      addCounts(value.usage);
      readStop(value);
      isDone = true;
    },
    end() {
      think.push(answer.takeHalf());
      think.end();
      answer.flush();
      if (!isDone && stopReason === undefined) return undefined;
      const toolCalls = tools.finish();
      const isPaused = stopReason === 'pause_turn' && toolCalls.length === 0;
      const end = readReason(stopReason ?? 'other');
      return {
        ...end,
        finishReason: settleReason(end.finishReason, toolCalls.length > 0),
        ...explained(explanation),
        usage: readUsage(counts),
        toolCalls,
        ...(isPaused || (hasStepState && toolCalls.length > 0) ? { stepState: closedBlocks(blocks, isPaused) } : {}),
        ...(isPaused ? { isPaused } : {}),
      };
    },
    get isDone() {
      return isDone;
    },
    get hasFinish() {
      return stopReason !== undefined;
    },
  };
}

/** Space at the end of an assistant's last message is refused. */
function closedBlocks(blocks: readonly OpenBlock[], isPaused: boolean): unknown[] {
  return blocks.flatMap((block, at) =>
    closedBlock(isPaused && at === blocks.length - 1 ? { ...block, text: block.text.trimEnd() } : block),
  );
}

/** The block as it is sent back; thinking that was cut off before its signature cannot be. */
function closedBlock({ start, text, signature, json }: OpenBlock): unknown[] {
  switch (start.type) {
    case 'text':
      return text.trim() === '' ? [] : [{ type: 'text', text }];
    case 'thinking':
      return signature === '' ? [] : [{ type: 'thinking', thinking: text, signature }];
    case 'tool_use':
      return [{ type: 'tool_use', id: start.id, name: start.name, input: argumentsObject(json) }];
    default:
      return [json === '' ? start : { ...start, input: argumentsObject(json) }];
  }
}

/** Input tokens include only what was neither read from the cache nor written to it. */
function readUsage(usage: Record<string, unknown>): Usage | undefined {
  const input = count(usage.input_tokens);
  const output = count(usage.output_tokens);
  if (input === undefined && output === undefined) return undefined;
  const cachedInputTokens = count(usage.cache_read_input_tokens);
  const cacheWriteTokens = count(usage.cache_creation_input_tokens);
  const details = isRecord(usage.output_tokens_details) ? usage.output_tokens_details : {};
  return usageOf({
    inputTokens: (input ?? 0) + (cachedInputTokens ?? 0) + (cacheWriteTokens ?? 0),
    outputTokens: output ?? 0,
    reasoningTokens: count(details.thinking_tokens),
    cachedInputTokens,
    cacheWriteTokens,
  });
}
