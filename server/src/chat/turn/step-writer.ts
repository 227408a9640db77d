import type { Frame } from '@homeport/contracts/chat/frames';
import type { CompletionSink } from '../model/protocol.ts';
import type { ToolResult } from '../tools/tool-run.ts';
import type { AnswerExtras } from './answer-extras.ts';
import { continueText } from './continued-text.ts';

/** The frames of a tool's result; files come right after it. */
export function emitResult(emitFrame: (frame: Frame) => void, toolCallId: string, result: ToolResult): void {
  if ('denied' in result) emitFrame({ type: 'tool-output-denied', toolCallId });
  else if ('errorText' in result) {
    emitFrame({ type: 'tool-output-error', toolCallId, errorText: result.errorText, dynamic: true });
  } else {
    emitFrame({ type: 'tool-output-available', toolCallId, output: result.output, dynamic: true });
    for (const { mediaType, url } of result.files ?? []) emitFrame({ type: 'file', mediaType, url });
  }
}

/** The text part of an earlier request that the step continues, still open. */
export type ContinuedText = { id: string; text: string };

/** Converts one answer of the model into frames and keeps its content. */
export type StepWriter = ReturnType<typeof createStepWriter>;

/**
 * Emits `start-step` with the first output, so that a failure before it has no frame. Replaces ids of tool calls that
 * are already in `usedIds` (those of earlier steps): some servers count from 0 in every answer. With `continued` the
 * step continues that part, whose end belongs to the caller until something has been written.
 */
export function createStepWriter(
  emitFrame: (frame: Frame) => void,
  createId: () => string,
  usedIds: Set<string>,
  extras: AnswerExtras,
  continued?: ContinuedText,
) {
  const written = { text: '', reasoning: '', pictureCount: 0 };
  const renamed = new Map<string, string>();
  const openCalls = new Set<string>();
  let open: { type: 'text' | 'reasoning'; id: string } | undefined;
  let hasBegun = false;
  let earlier = continued && { id: continued.id, text: continueText(continued.text, addToEarlier) };

  function begin(): void {
    if (hasBegun) return;
    hasBegun = true;
    emitFrame(continued === undefined ? { type: 'start-step' } : { type: 'data-continued', transient: true, data: {} });
  }

  function addToEarlier(delta: string): void {
    if (earlier === undefined) return;
    begin();
    if (open !== undefined) closeOpen();
    written.text += delta;
    emitFrame({ type: 'text-delta', id: earlier.id, delta });
  }

  function closePart(): void {
    closeOpen();
    if (earlier === undefined) return;
    earlier.text.end();
    emitFrame({ type: 'text-end', id: earlier.id });
    earlier = undefined;
  }

  function closeOpen(): void {
    if (open !== undefined) emitFrame({ type: `${open.type}-end`, id: open.id });
    open = undefined;
  }

  function openPart(type: 'text' | 'reasoning'): string {
    if (open !== undefined && open.type === type) return open.id;
    begin();
    closeOpen();
    open = { type, id: createId() };
    emitFrame({ type: `${type}-start`, id: open.id });
    return open.id;
  }

  /** The id that a tool call of the model has in this turn. */
  function idOf(modelId: string): string {
    return renamed.get(modelId) ?? modelId;
  }

  const sink: CompletionSink = {
    text(delta) {
      if (earlier !== undefined) {
        earlier.text.push(delta);
        return;
      }
      written.text += delta;
      emitFrame({ type: 'text-delta', id: openPart('text'), delta });
    },
    reasoning(delta) {
      written.reasoning += delta;
      emitFrame({ type: 'reasoning-delta', id: openPart('reasoning'), delta });
    },
    textWasReasoning() {
      // The beginning of a continued text is an answer.
      if (earlier !== undefined || open?.type !== 'text') return;
      const { id } = open;
      closeOpen();
      written.reasoning += written.text;
      written.text = '';
      emitFrame({ type: 'data-reasoning', transient: true, data: { id } });
    },
    toolStart({ id, name }) {
      begin();
      closePart();
      if (usedIds.has(id)) renamed.set(id, createId());
      const toolCallId = idOf(id);
      usedIds.add(toolCallId);
      openCalls.add(toolCallId);
      emitFrame({ type: 'tool-input-start', toolCallId, toolName: name, dynamic: true });
    },
    toolDelta(id, delta) {
      emitFrame({ type: 'tool-input-delta', toolCallId: idOf(id), inputTextDelta: delta });
    },
    source(source) {
      const part = extras.source(source);
      if (part === undefined) return;
      begin();
      emitFrame(part);
    },
    picture(picture) {
      begin();
      closePart();
      written.pictureCount++;
      extras.picture(picture);
    },
  };

  return {
    sink,
    written,
    idOf,
    begin,
    closePart,
    get hasBegun() {
      return hasBegun;
    },
    acceptInput(toolCallId: string, toolName: string, input: unknown): void {
      emitFrame({ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true });
    },
    refuseInput(toolCallId: string, toolName: string, input: unknown, errorText: string): void {
      openCalls.delete(toolCallId);
      emitFrame({ type: 'tool-input-error', toolCallId, toolName, input, errorText, dynamic: true });
    },
    setResult(toolCallId: string, result: ToolResult): void {
      openCalls.delete(toolCallId);
      emitResult(emitFrame, toolCallId, result);
    },
    finish(): void {
      begin();
      closePart();
      emitFrame({ type: 'finish-step' });
    },
    /** The same, if something has been written. */
    finishBegun(): void {
      earlier?.text.end();
      if (hasBegun) this.finish();
    },
    /** Ends what is open in a step that was cut; nothing at all when it had not begun. */
    cut(toolErrorText: string): void {
      earlier?.text.end();
      if (!hasBegun) return;
      closePart();
      for (const toolCallId of openCalls) {
        emitFrame({ type: 'tool-output-error', toolCallId, errorText: toolErrorText, dynamic: true });
      }
      openCalls.clear();
      emitFrame({ type: 'finish-step' });
    },
  };
}
