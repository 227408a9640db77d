import type { Usage } from '@homeport/contracts/chat/frames';
import { sourceBounds } from '@homeport/contracts/chat/sources';
import { unreadableAnswer } from '../failures/provider-errors.ts';
import type { AnswerParser, CompletionBounds, CompletionSink } from '../protocol.ts';
import { argumentsObject } from '../request-parts.ts';
import { createAnswerGatherer } from '../stream/answer-gatherer.ts';
import { createPictureReader } from '../stream/answer-pictures.ts';
import { createSourceReader } from '../stream/answer-sources.ts';
import { explained, explanationOf, type ReportedEnd, readReason, settleReason } from '../stream/finish-reasons.ts';
import { createJsonEvents } from '../stream/json-events.ts';
import { isRecord } from '../stream/storable-text.ts';
import { createThinkSplitter } from '../stream/think-tags.ts';
import { createToolCallAssembler } from '../stream/tool-call-assembly.ts';
import { count, usageOf } from '../usage.ts';
import { createArguments } from './gemini-arguments.ts';

/** Reads the event stream of Gemini's `streamGenerateContent`. */
export function createGeminiParser(
  sink: CompletionSink,
  createId: () => string,
  bounds: CompletionBounds,
): AnswerParser {
  const answer = createAnswerGatherer(sink, bounds.maxTextLength);
  // Open models answer here too, some with thinking in tags.
  const think = createThinkSplitter(answer);
  const tools = createToolCallAssembler(sink, createId, bounds);
  const sources = createSourceReader(sink, answer.flush);
  const pictures = createPictureReader(sink, (length) => {
    answer.count(length);
    think.end();
    answer.flush();
  });
  /** Parts to send back when one of them is signed; adjacent texts without a signature are merged. */
  const parts: Record<string, unknown>[] = [];
  let isSigned = false;
  let hasCandidate = false;
  let calls = 0;
  /** A call whose arguments arrive in pieces. */
  let openCall: { call: Record<string, unknown>; signature: unknown; args: Arguments } | undefined;
  let usage: Usage | undefined;
  let finish: ReportedEnd | undefined;
  let explanation: string | undefined;

  const feed = createJsonEvents(bounds.maxEventLength, { event: readChunk });

  function readChunk(given: Record<string, unknown>): void {
    // Gateways of the maker put the chunk into a member.
    const chunk = isRecord(given.response) ? given.response : given;
    usage = readUsage(chunk.usageMetadata) ?? usage;
    const feedback = chunk.promptFeedback;
    if (isRecord(feedback) && typeof feedback.blockReason === 'string') {
      finish = { finishReason: 'content-filter' };
      explanation = explanationOf(feedback.blockReasonMessage, feedback.blockReason);
    }
    const candidate = firstCandidate(chunk);
    if (candidate === undefined) return;
    hasCandidate = true;
    const content = isRecord(candidate.content) ? candidate.content : {};
    if (Array.isArray(content.parts)) for (const part of content.parts) if (isRecord(part)) readPart(part);
    readGrounding(candidate);
    const reason = candidate.finishReason;
    if (typeof reason !== 'string' || reason === 'FINISH_REASON_UNSPECIFIED') return;
    finish = readReason(reason);
    const isFiltered = finish.finishReason === 'content-filter';
    explanation = explanationOf(candidate.finishMessage, isFiltered ? reason : undefined);
  }

  function readGrounding({ groundingMetadata, citationMetadata }: Record<string, unknown>): void {
    const chunks = isRecord(groundingMetadata) ? groundingMetadata.groundingChunks : undefined;
    for (const chunk of Array.isArray(chunks) ? chunks.slice(0, sourceBounds.count) : []) {
      if (!isRecord(chunk)) continue;
      const place = isRecord(chunk.retrievedContext) ? chunk.retrievedContext : chunk.maps;
      if (!isRecord(place)) sources.entry(chunk);
      else if (!sources.url(place.uri, place.title)) sources.document(place.title, undefined, fileOf(place));
    }
    if (!isRecord(citationMetadata)) return;
    sources.list(citationMetadata.citationSources ?? citationMetadata.citations);
  }

  function readPart(part: Record<string, unknown>): void {
    const signature = part.thoughtSignature ?? part.thought_signature;
    if (typeof signature === 'string') {
      isSigned = true;
      answer.count(signature.length);
    }
    const picture = part.inlineData ?? part.inline_data;
    // Pictures among the thoughts are drafts.
    if (isRecord(picture)) {
      if (part.thought !== true) pictures.entry(picture);
      return;
    }
    const call = part.functionCall ?? part.function_call;
    if (isRecord(call)) readCall(call, signature);
    else if (typeof part.text === 'string') addText(part.text, part.thought === true, signature);
    else if (signature !== undefined) keep(part);
  }

  function addText(text: string, isThought: boolean, signature: unknown): void {
    answer.count(text.length);
    if (text !== '') {
      const clean = answer.clean(text);
      if (isThought) think.end();
      if (isThought) answer.reasoning(clean);
      else think.push(clean);
    }
    const last = parts.at(-1);
    const isOpen = last !== undefined && typeof last.text === 'string' && (last.thought === true) === isThought;
    if (isOpen && last.thoughtSignature === undefined) last.text = `${last.text}${text}`;
    else if (text !== '' || signature !== undefined) keep(isThought ? { text, thought: true } : { text });
    const signed = parts.at(-1);
    if (typeof signature === 'string' && signed !== undefined) signed.thoughtSignature = signature;
  }

  function readCall(call: Record<string, unknown>, signature: unknown): void {
    const isNamed = typeof call.name === 'string' && call.name !== '';
    const isPiece = call.partialArgs !== undefined || call.willContinue === true;
    if (isNamed || openCall === undefined) {
      endCall();
      // The end of a call that has ended already.
      if (!isNamed && !isPiece && call.args === undefined && call.id === undefined) return;
      if (!isPiece) {
        addCall(call, signature);
        return;
      }
      openCall = { call, signature, args: createArguments(answer.count) };
    }
    openCall.signature ??= signature;
    const isOpen = openCall.args.add(call.partialArgs);
    if (call.willContinue !== true && !isOpen) endCall();
  }

  function endCall(): void {
    if (openCall === undefined) return;
    const { call, signature, args } = openCall;
    openCall = undefined;
    addCall({ ...call, args: args.finish() }, signature);
  }

  function addCall(call: Record<string, unknown>, signature: unknown): void {
    think.end();
    answer.flush();
    const args = isRecord(call.args) ? call.args : argumentsObject(typeof call.args === 'string' ? call.args : '');
    tools.push([{ index: calls++, id: call.id, function: { name: call.name, arguments: JSON.stringify(args) } }]);
    const kept = { ...(typeof call.id === 'string' ? { id: call.id } : {}), name: call.name, args };
    keep({ functionCall: kept, ...(typeof signature === 'string' ? { thoughtSignature: signature } : {}) });
  }

  function keep(part: Record<string, unknown>): void {
    parts.push(part);
    if (parts.length > bounds.maxToolCalls * 4) throw unreadableAnswer('answer');
  }

  return {
    feed,
    flush: answer.flush,
    readWhole(value) {
      const chunks: unknown[] = Array.isArray(value) ? value : [value];
      for (const chunk of chunks) {
        if (!isRecord(chunk)) throw unreadableAnswer('answer');
        readChunk(chunk);
      }
      if (finish !== undefined) return;
      if (!hasCandidate) throw unreadableAnswer('answer');
      finish = { finishReason: 'other' };
    },
    end() {
      const half = answer.takeHalf();
      if (half !== '') think.push(half);
      think.end();
      answer.flush();
      endCall();
      if (finish === undefined) return undefined;
      const toolCalls = tools.finish();
      return {
        ...finish,
        finishReason: settleReason(finish.finishReason, toolCalls.length > 0),
        ...explained(explanation),
        usage,
        toolCalls,
        ...(isSigned && toolCalls.length > 0 ? { stepState: parts } : {}),
      };
    },
    /** Usage may come after the reason for the end. */
    isDone: false,
    get hasFinish() {
      return finish !== undefined;
    },
  };
}

function firstCandidate({ candidates }: Record<string, unknown>): Record<string, unknown> | undefined {
  if (!Array.isArray(candidates)) return undefined;
  return candidates.slice(0, 8).find((candidate) => isRecord(candidate) && !(Number(candidate.index) > 0));
}

type Arguments = ReturnType<typeof createArguments>;

/** The name of a document in a store, whose address is not one of the web. */
function fileOf({ uri, documentName }: Record<string, unknown>): string | undefined {
  const path = typeof uri === 'string' ? uri : documentName;
  return typeof path === 'string' ? path.split('/').at(-1) : undefined;
}

/** Thoughts are counted apart from the answer's tokens, results of the server's own tools apart from the prompt's. */
function readUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const reasoningTokens = count(value.thoughtsTokenCount);
  return usageOf({
    inputTokens: (count(value.promptTokenCount) ?? 0) + (count(value.toolUsePromptTokenCount) ?? 0),
    outputTokens: (count(value.candidatesTokenCount) ?? 0) + (reasoningTokens ?? 0),
    reasoningTokens,
    cachedInputTokens: count(value.cachedContentTokenCount),
  });
}
