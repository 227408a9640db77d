import { finishDetailMax } from '@homeport/contracts/chat/finish-reasons';
import type { Usage } from '@homeport/contracts/chat/frames';
import { createParser } from 'eventsource-parser';
import { streamedError, unreadableAnswer } from '../failures/provider-errors.ts';
import { createStateGatherer, type StateMember } from '../fitting/reasoning.ts';
import type { AnswerParser, CompletionBounds, CompletionSink } from '../protocol.ts';
import { errorIn } from '../stream/answer-errors.ts';
import { createAnswerGatherer } from '../stream/answer-gatherer.ts';
import { createPictureReader } from '../stream/answer-pictures.ts';
import { createSourceReader } from '../stream/answer-sources.ts';
import {
  explained,
  explanationOf,
  filtersOf,
  type ReportedEnd,
  readReason,
  settleReason,
} from '../stream/finish-reasons.ts';
import { parseJson, readPayload } from '../stream/json-events.ts';
import { isRecord } from '../stream/storable-text.ts';
import { createThinkSplitter } from '../stream/think-tags.ts';
import { createToolCallAssembler } from '../stream/tool-call-assembly.ts';
import { readAnnotations, readSources } from './openai-sources.ts';
import { usageIn } from './openai-usage.ts';

/** Characters that change the meaning of a JSON string or are not allowed in one, including line ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that JSON refuses in a string.
const notPlain = /[\\\u0000-\u001f]/;
const contentMark = '"content":"';

/**
 * Reads the event stream of an OpenAI-style `/chat/completions`, synchronously, with as little work per token as
 * possible.
 */
export function createCompletionParser(
  sink: CompletionSink,
  createId: () => string,
  bounds: CompletionBounds,
): AnswerParser {
  let finish: ReportedEnd | undefined;
  let explanation: string | undefined;
  let refusal = '';
  let usage: Usage | undefined;
  let isDone = false;
  let hasFinish = false;
  let hasDelta = false;
  /** Reasoning came as text, which its details repeat. */
  let isTold = false;
  // Events of plain text differ only in their content string. Reusing the surrounding text of the previous event saves
  // JSON.parse (0.2 instead of 1.1 microseconds per event, measured).
  let before = '';
  let after = '';
  let shapesToLearn = 16;
  let eventBefore = '';
  let eventAfter = '';
  let isBetweenEvents = true;

  const answer = createAnswerGatherer(sink, bounds.maxTextLength);
  const state = createStateGatherer((length) => answer.count(length));
  const think = createThinkSplitter({
    text: answer.text,
    reasoning(text) {
      state.addText(text, 'reasoning_content');
      answer.reasoning(text);
    },
    textWasReasoning(text) {
      state.addText(text, 'reasoning_content');
      answer.textWasReasoning?.(text);
    },
  });
  const tools = createToolCallAssembler(sink, createId, bounds);
  const sources = createSourceReader(sink, answer.flush);
  const pictures = createPictureReader(sink, beforePicture);
  const events = createParser({
    maxBufferSize: bounds.maxEventLength,
    onEvent: (event) => readEvent(event.data, event.event),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw unreadableAnswer('answer');
    },
  });

  function addContent(content: string): void {
    hasFinish = false;
    answer.count(content.length);
    think.push(content);
  }

  function readEvent(data: string, name: string | undefined): void {
    if (isDone || readKnownShape(data)) return;
    readPayload(data, name, {
      event(chunk, line) {
        if (readChunk(chunk)) learnShape(line, chunk);
      },
      done() {
        isDone = true;
      },
    });
  }

  /** Reads whole events of the known shape without the event parser, and returns how far it got. */
  function readPlainEvents(text: string): number {
    if (before === '' || answer.hasHalf || isDone) return 0;
    let at = 0;
    while (text.startsWith(eventBefore, at)) {
      const start = at + eventBefore.length;
      const end = text.indexOf('"', start);
      if (end === -1 || !text.startsWith(eventAfter, end)) break;
      const content = text.slice(start, end);
      if (notPlain.test(content)) break;
      addContent(content);
      at = end + eventAfter.length;
    }
    return at;
  }

  function readKnownShape(data: string): boolean {
    const end = data.length - after.length;
    if (before === '' || end < before.length || answer.hasHalf) return false;
    if (data.slice(0, before.length) !== before || data.slice(end) !== after) return false;
    const content = data.slice(before.length, end);
    if (content.indexOf('"') === -1 && content.indexOf('\\') === -1) {
      addContent(content);
      return true;
    }
    const decoded = parseJson(`"${content}"`);
    if (typeof decoded !== 'string') return false;
    addContent(answer.clean(decoded));
    return true;
  }

  function learnShape(data: string, chunk: Record<string, unknown>): void {
    const delta = firstChoice(chunk)?.delta;
    if (shapesToLearn === 0 || !isRecord(delta) || typeof delta.content !== 'string' || delta.content === '') return;
    const at = data.indexOf(contentMark);
    const start = at + contentMark.length;
    const encoded = JSON.stringify(delta.content);
    const end = start - 1 + encoded.length;
    if (at === -1 || data.lastIndexOf(contentMark) !== at || data.slice(start - 1, end) !== encoded) return;
    before = data.slice(0, start);
    after = data.slice(end - 1);
    eventBefore = `data: ${before}`;
    eventAfter = `${after}\n\n`;
    shapesToLearn--;
  }

  /** Returns true if the chunk contained only content, so that its shape can be learned. */
  function readChunk(chunk: Record<string, unknown>): boolean {
    const usageBefore = usage;
    const choice = firstChoice(chunk);
    usage = usageIn(chunk, choice) ?? usage;
    readSources(sources, chunk);
    if (choice === undefined) return false;
    const error = choice.error === undefined ? undefined : errorIn({ error: choice.error });
    if (error !== undefined) throw streamedError(error);
    const plain = readDelta(deltaOf(choice));
    return !readFinish(choice) && plain && usage === usageBefore;
  }

  /** The delta of a choice, with the members that some servers write beside it. */
  function deltaOf({
    delta,
    message,
    text,
    tool_calls: calls,
    images,
  }: Record<string, unknown>): Record<string, unknown> {
    if (!isRecord(delta) && isRecord(message)) {
      // MiniMax ends a stream with the whole message.
      return hasDelta ? {} : message;
    }
    hasDelta = true;
    const given = isRecord(delta) ? delta : {};
    if (text === undefined && calls === undefined && images === undefined) return given;
    return { content: text, tool_calls: calls, images, ...given };
  }

  function beforePicture(length: number): void {
    answer.count(length);
    think.end();
    answer.flush();
  }

  function readDelta(delta: Record<string, unknown>): boolean {
    const reasoning = reasoningIn(delta);
    let plain = !state.add(delta);
    if (readAnnotations(sources, delta)) plain = false;
    if (reasoning === undefined) addDetails(delta);
    else {
      isTold = true;
      addReasoning(reasoning.text, reasoning.member);
      plain = false;
    }
    if (typeof delta.content === 'string') {
      if (delta.content !== '') addContent(answer.clean(delta.content));
    } else if (typeof delta.content === 'object' && delta.content !== null) {
      plain = false;
      for (const item of [delta.content].flat()) readContentItem(item);
    }
    if (typeof delta.refusal === 'string' && delta.refusal !== '') {
      plain = false;
      if (refusal.length < finishDetailMax) refusal += delta.refusal.slice(0, finishDetailMax);
      addContent(answer.clean(delta.refusal));
    }
    if (Array.isArray(delta.images) || isRecord(delta.image)) {
      plain = false;
      for (const image of [delta.images ?? [], delta.image ?? []].flat()) pictures.entry(image);
    }
    const calls = isRecord(delta.tool_calls) ? [delta.tool_calls] : delta.tool_calls;
    if (Array.isArray(calls) || isRecord(delta.function_call)) {
      plain = false;
      hasFinish = false;
      think.end();
      answer.flush();
      tools.push(calls);
      tools.pushLegacy(delta.function_call);
    }
    return plain;
  }

  function addReasoning(text: string, member: StateMember): void {
    hasFinish = false;
    answer.count(text.length);
    state.addText(text, member);
    // A server that separates reasoning sends no tags: release the text that was held back to look for one.
    think.end();
    answer.reasoning(answer.clean(text));
  }

  /** Reasoning that a server sends only in its details. They are state, which is sent back whole. */
  function addDetails({ reasoning_details: details, thinking_blocks: blocks }: Record<string, unknown>): void {
    if (isTold) return;
    for (const item of Array.isArray(details) ? details : Array.isArray(blocks) ? blocks : []) {
      if (!isRecord(item)) continue;
      const text = item.text ?? item.summary ?? item.thinking;
      if (typeof text !== 'string' || text === '') continue;
      answer.count(text.length);
      think.end();
      answer.reasoning(answer.clean(text));
    }
  }

  function readContentItem(item: unknown): void {
    if (typeof item === 'string') addContent(answer.clean(item));
    if (!isRecord(item)) return;
    const thought = item.type === 'reasoning' ? (item.text ?? item.reasoning ?? item.summary) : undefined;
    if (typeof thought === 'string') addReasoning(thought, 'reasoning_content');
    else if (typeof item.text === 'string') addContent(answer.clean(item.text));
    else if (item.type === 'image_url' || item.type === 'image' || item.type === 'output_image') pictures.entry(item);
    else if (item.type === 'tool_reference') sources.entry(item);
    else if (typeof item.thinking === 'string') addReasoning(item.thinking, 'thinking');
    else if (Array.isArray(item.thinking)) {
      for (const thought of item.thinking) {
        if (isRecord(thought) && typeof thought.text === 'string') addReasoning(thought.text, 'thinking');
      }
    }
  }

  function readFinish(choice: Record<string, unknown>): boolean {
    const { finish_reason: reason, native_finish_reason: native } = choice;
    if (typeof reason !== 'string' || /^(?:null|none)?$/i.test(reason)) return false;
    finish = readReason(reason);
    hasFinish = true;
    // A gateway maps the reasons of its providers, and names theirs beside.
    if (typeof native === 'string' && /refusal|malformed/i.test(native)) finish = readReason(native);
    explanation = filtersOf(choice.content_filter_results);
    return true;
  }

  return {
    feed(text) {
      const read = isBetweenEvents ? readPlainEvents(text) : 0;
      if (read === text.length) return;
      const rest = text.slice(read);
      events.feed(rest);
      isBetweenEvents = rest.endsWith('\n\n');
    },
    flush: answer.flush,
    readWhole(value) {
      const chunk: unknown = Array.isArray(value) ? value[0] : value;
      if (!isRecord(chunk) || firstChoice(chunk) === undefined) throw unreadableAnswer('answer');
      readChunk(chunk);
      isDone = true;
    },
    end() {
      if (answer.hasHalf) addContent(answer.takeHalf());
      think.end();
      answer.flush();
      if (!isDone && finish === undefined) return undefined;
      const toolCalls = tools.finish();
      const stepState = state.finish(toolCalls);
      const kept = stepState === undefined ? {} : { stepState };
      return {
        ...finish,
        ...(refusal === '' ? {} : { isRefusal: true }),
        finishReason: settleReason(finish?.finishReason ?? 'other', toolCalls.length > 0),
        ...explained(explanationOf(refusal, explanation)),
        usage,
        toolCalls,
        ...kept,
      };
    },
    get isDone() {
      return isDone;
    },
    get hasFinish() {
      return hasFinish;
    },
  };
}

const reasoningMembers = ['reasoning_content', 'reasoning', 'reasoning_text', 'thinking', 'thought'] as const;

/** Text of the reasoning, and the member to send it back in. Some servers send two members, one of them empty. */
function reasoningIn(delta: Record<string, unknown>): { text: string; member: StateMember } | undefined {
  for (const name of reasoningMembers) {
    const value = delta[name];
    const text = isRecord(value) ? (value.content ?? value.text) : value;
    if (typeof text === 'string' && text !== '') {
      return { text, member: name === 'reasoning' ? name : 'reasoning_content' };
    }
  }
  return undefined;
}

function firstChoice({ choices }: Record<string, unknown>): Record<string, unknown> | undefined {
  if (!Array.isArray(choices)) return undefined;
  return choices.slice(0, 8).find((choice) => isRecord(choice) && !(Number(choice.index) > 0));
}
