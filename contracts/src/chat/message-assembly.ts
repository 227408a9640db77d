import type { AskedQuestions } from './agent.ts';
import type { DynamicToolPart, FinishReason, Frame, MessageMetadata, MessagePart } from './frames.ts';
import { type Slot, StreamingTexts, ToolCalls } from './message-slots.ts';

/** The result of a tool call whose response ended first. */
const interruptedToolText = 'Interrupted before the tool returned a result.';
/** Of a call that the model had not yet finished asking for: nothing has run. */
export const brokenOffToolText = 'The answer broke off before the tool could run.';

export type MessageAssembler = ReturnType<typeof createMessageAssembler>;

/**
 * Assembles a response's frames into message parts, exactly as the AI SDK's `readUIMessageStream` does; a delta costs
 * one string append. `parts` is a snapshot that shares unchanged parts with the previous one. `initialParts` come
 * before all frames; frames that refer to unknown parts are ignored or open them.
 */
export function createMessageAssembler(initialParts: readonly MessagePart[] = []) {
  const slots: Slot[] = [];
  const texts = new StreamingTexts(slots, 'text');
  const reasonings = new StreamingTexts(slots, 'reasoning');
  const tools = new ToolCalls(slots);
  let snapshot: MessagePart[] | undefined;
  let messageId: string | undefined;
  let metadata: MessageMetadata | undefined;
  let finishReason: FinishReason | undefined;
  let errorText: string | undefined;
  for (const part of initialParts) {
    if (part.type === 'dynamic-tool') tools.add(part, true);
    else pushPart(part, true);
  }

  function pushPart(part: MessagePart, isShared = false): void {
    slots.push({ part, isShared });
    if (part.type === 'step-start') tools.beginStep();
  }

  /** Replaces a question by its outcome. */
  function pushQuestion(data: AskedQuestions): void {
    const isAsked = ({ part }: Slot) => questionsIn(part)?.questionId === data.questionId;
    const slot = data.outcome === undefined ? undefined : slots.find(isAsked);
    if (slot === undefined) pushPart({ type: 'data-question', data });
    else Object.assign(slot, { part: { type: 'data-question', data }, isShared: false });
  }

  function reset(): void {
    slots.length = 0;
    for (const known of [texts, reasonings, tools]) known.clear();
    metadata = undefined;
    finishReason = undefined;
    errorText = undefined;
  }

  function apply(frame: Frame): void {
    snapshot = undefined;
    switch (frame.type) {
      case 'text-delta':
        texts.append(frame.id, frame.delta);
        return;
      case 'reasoning-delta':
        reasonings.append(frame.id, frame.delta);
        return;
      case 'text-start':
        texts.start(frame.id);
        return;
      case 'reasoning-start':
        reasonings.start(frame.id);
        return;
      case 'text-end':
        texts.end(frame.id);
        return;
      case 'reasoning-end':
        reasonings.end(frame.id);
        return;
      case 'data-reasoning':
        texts.becomeReasoning(frame.data.id);
        return;
      case 'start-step':
        pushPart({ type: 'step-start' });
        return;
      case 'data-question':
        pushQuestion(frame.data);
        return;
      case 'data-notice':
      case 'data-served-by':
        pushPart({ type: frame.type, data: frame.data });
        return;
      case 'file':
        pushPart({ type: 'file', mediaType: frame.mediaType, url: frame.url });
        return;
      case 'source-url':
      case 'source-document':
        pushPart({ ...frame });
        return;
      case 'start':
        if (frame.messageId !== messageId && messageId !== undefined) reset();
        messageId = frame.messageId;
        metadata = mergeMetadata(metadata, frame.messageMetadata);
        return;
      case 'finish':
        finishReason = frame.finishReason ?? finishReason;
        metadata = mergeMetadata(metadata, frame.messageMetadata);
        return;
      case 'error':
        errorText = frame.errorText;
        return;
      default:
        tools.apply(frame);
    }
  }

  return {
    apply,
    get parts(): MessagePart[] {
      if (snapshot !== undefined) return snapshot;
      tools.refreshInputs();
      for (const slot of slots) slot.isShared = true;
      snapshot = slots.map((slot) => slot.part);
      return snapshot;
    },
    /** The frames after which `parts` equals `finishParts(parts, …)`; sent when a response is cut off. */
    closingFrames({ toolErrorText, keepsApprovals }: Finishing = {}): Frame[] {
      const asked = keepsApprovals === true ? askedCalls(slots.map(({ part }) => part)) : noCalls;
      return [
        ...reasonings.openIds().map((id): Frame => ({ type: 'reasoning-end', id })),
        ...texts.openIds().map((id): Frame => ({ type: 'text-end', id })),
        ...tools
          .parts()
          .filter((part) => isToBeClosed(part, keepsApprovals) && !asked.has(part.toolCallId))
          .map((part): Frame => {
            const text = cutText(part, toolErrorText);
            return { type: 'tool-output-error', toolCallId: part.toolCallId, errorText: text, dynamic: true };
          }),
      ];
    },
    get messageId() {
      return messageId;
    },
    get metadata() {
      return metadata;
    },
    get finishReason() {
      return finishReason;
    },
    /** The text of the last `error` frame. */
    get errorText() {
      return errorText;
    },
  };
}

/**
 * `keepsApprovals`: calls that wait for approval or for answers keep waiting, and the response can be continued with
 * them.
 */
export type Finishing = { toolErrorText?: string; keepsApprovals?: boolean };

/**
 * The parts to store for a response that was cut off: nothing is streaming, and every tool call has a result or waits
 * for approval.
 */
export function finishParts(
  parts: readonly MessagePart[],
  { toolErrorText, keepsApprovals }: Finishing = {},
): MessagePart[] {
  const asked = keepsApprovals === true ? askedCalls(parts) : noCalls;
  return parts.map((part) => {
    if (part.type === 'text' || part.type === 'reasoning') {
      return part.state === 'streaming' ? { ...part, state: 'done' } : part;
    }
    if (part.type !== 'dynamic-tool' || !isToBeClosed(part, keepsApprovals) || asked.has(part.toolCallId)) return part;
    const { rawInput: _rawInput, output: _output, preliminary: _preliminary, ...rest } = part;
    return { ...rest, state: 'output-error', errorText: cutText(part, toolErrorText) };
  });
}

const noCalls: ReadonlySet<string> = new Set();

/** The calls that have asked the person. */
function askedCalls(parts: readonly MessagePart[]): ReadonlySet<string> {
  return new Set(
    parts.flatMap((part) => {
      const asked = questionsIn(part);
      // A question of a running tool ends with the tool call.
      return asked === undefined || asked.from !== undefined ? [] : [asked.toolCallId];
    }),
  );
}

/** Returns the questions of a part to the person. */
export function questionsIn(part: MessagePart): AskedQuestions | undefined {
  if (part.type !== 'data-question' || !('data' in part)) return undefined;
  return parseQuestions(part.data);
}

/** The service wrote it. */
function parseQuestions(data: unknown): AskedQuestions {
  return data as AskedQuestions;
}

/** The error text of a call that was cut off, followed by the tool's output so far. */
function cutText(part: DynamicToolPart, toolErrorText = interruptedToolText): string {
  if (part.state === 'input-streaming') return brokenOffToolText;
  return withOutputSoFar(toolErrorText, part.output);
}

/** The error text of a tool that was cut off, with its preliminary output. */
export function withOutputSoFar(errorText: string, output: unknown): string {
  return typeof output === 'string' && output !== '' ? `${errorText} Its output so far:\n${output}` : errorText;
}

function isToBeClosed({ state, preliminary }: DynamicToolPart, keepsApprovals = false): boolean {
  if (state === 'approval-requested') return !keepsApprovals;
  if (state === 'output-available' && preliminary === true) return true;
  return state !== 'output-available' && state !== 'output-error' && state !== 'output-denied';
}

function mergeMetadata(
  older: MessageMetadata | undefined,
  newer: MessageMetadata | undefined,
): MessageMetadata | undefined {
  return newer === undefined ? older : { ...older, ...newer };
}
