import { parsePartialJson } from '../text/partial-json.ts';
import type { AskedQuestions } from './agent.ts';
import type {
  DynamicToolPart,
  FinishReason,
  Frame,
  MessageMetadata,
  MessagePart,
  ReasoningPart,
  TextPart,
} from './frames.ts';

/** The result of a tool call whose response ended first. */
const interruptedToolText = 'Interrupted before the tool returned a result.';
/** Of a call that the model had not yet finished asking for: nothing has run. */
export const brokenOffToolText = 'The answer broke off before the tool could run.';

export type MessageAssembler = ReturnType<typeof createMessageAssembler>;

type Slot<Part extends MessagePart = MessagePart> = { part: Part; isShared: boolean };
type ToolSlot = Slot<DynamicToolPart> & { position: number };

/**
 * Assembles a response's frames into message parts, exactly as the AI SDK's `readUIMessageStream` does; a delta costs
 * one string append. `parts` is a snapshot that shares unchanged parts with the previous one. `initialParts` come
 * before all frames; frames that refer to unknown parts are ignored or open them.
 */
export function createMessageAssembler(initialParts: readonly MessagePart[] = []) {
  let slots: Slot[] = [];
  let stepStart = 0;
  let snapshot: MessagePart[] | undefined;
  let messageId: string | undefined;
  let metadata: MessageMetadata | undefined;
  let finishReason: FinishReason | undefined;
  let errorText: string | undefined;
  const texts = new Map<string, Slot<TextPart>>();
  const reasonings = new Map<string, Slot<ReasoningPart>>();
  const tools = new Map<string, ToolSlot>();
  const staleInputs = new Set<ToolSlot>();

  for (const part of initialParts) {
    if (part.type === 'dynamic-tool') pushTool(part);
    else pushPart(part);
    lastSlot().isShared = true;
  }

  function lastSlot(): Slot {
    const slot = slots.at(-1);
    if (slot === undefined) throw new Error('no part yet');
    return slot;
  }

  function pushPart<Part extends MessagePart>(part: Part): Slot<Part> {
    const slot = { part, isShared: false };
    slots.push(slot);
    if (part.type === 'step-start') stepStart = slots.length;
    return slot;
  }

  function pushTool(part: DynamicToolPart): ToolSlot {
    const slot = { part, isShared: false, position: slots.length };
    slots.push(slot);
    tools.set(part.toolCallId, slot);
    return slot;
  }

  /** Replaces a question by its outcome. */
  function replaceQuestion(data: AskedQuestions): boolean {
    if (data.outcome === undefined) return false;
    const slot = slots.find(({ part }) => questionsIn(part)?.questionId === data.questionId);
    if (slot === undefined) return false;
    slot.part = { type: 'data-question', data };
    slot.isShared = false;
    return true;
  }

  /** A slot's part, to be changed: it is copied first if a snapshot holds it. */
  function edit<Part extends MessagePart>(slot: Slot<Part>): Part {
    if (slot.isShared) {
      slot.part = { ...slot.part };
      slot.isShared = false;
    }
    return slot.part;
  }

  function openText(id: string): Slot<TextPart> | undefined {
    const known = texts.get(id) ?? findStreaming(slots, isTextSlot, texts);
    if (known !== undefined) texts.set(id, known);
    return known;
  }

  function openReasoning(id: string): Slot<ReasoningPart> | undefined {
    const known = reasonings.get(id) ?? findStreaming(slots, isReasoningSlot, reasonings);
    if (known !== undefined) reasonings.set(id, known);
    return known;
  }

  function beginText(id: string): Slot<TextPart> {
    const slot = pushPart<TextPart>({ type: 'text', text: '', state: 'streaming' });
    texts.set(id, slot);
    return slot;
  }

  function beginReasoning(id: string): Slot<ReasoningPart> {
    const slot = pushPart<ReasoningPart>({ type: 'reasoning', id, text: '', state: 'streaming' });
    reasonings.set(id, slot);
    return slot;
  }

  /** Input frames belong to the call with this id in the current step; an earlier step may have used the id too. */
  function setInput(
    toolCallId: string,
    toolName: string,
    state: DynamicToolPart['state'],
    input: unknown,
  ): DynamicToolPart {
    const known = tools.get(toolCallId);
    const isCurrent = known !== undefined && known.position >= stepStart;
    const slot = isCurrent ? known : pushTool({ type: 'dynamic-tool', toolName, toolCallId, state });
    const part = edit(slot);
    staleInputs.delete(slot);
    clearResult(part);
    part.toolName = toolName;
    part.state = state;
    part.input = input;
    return part;
  }

  function addInput(toolCallId: string, delta: string): void {
    const slot = tools.get(toolCallId);
    if (slot === undefined) return;
    const part = edit(slot);
    part.state = 'input-streaming';
    part.rawInput = (part.rawInput ?? '') + delta;
    staleInputs.add(slot);
  }

  function setResult(toolCallId: string, state: 'output-available' | 'output-error'): DynamicToolPart | undefined {
    const slot = tools.get(toolCallId);
    if (slot === undefined) return undefined;
    refreshInput(slot);
    const part = edit(slot);
    clearResult(part);
    part.state = state;
    return part;
  }

  /** Partial input is parsed when read, not per delta, which would cost the square of its length. */
  function refreshInput(slot: ToolSlot): void {
    if (staleInputs.delete(slot)) edit(slot).input = parsePartialJson(slot.part.rawInput ?? '');
  }

  function slotOfApproval(approvalId: string): ToolSlot | undefined {
    return [...tools.values()].find((slot) => slot.part.approval?.id === approvalId);
  }

  function reset(): void {
    slots = [];
    stepStart = 0;
    for (const known of [texts, reasonings, tools, staleInputs]) known.clear();
    metadata = undefined;
    finishReason = undefined;
    errorText = undefined;
  }

  function apply(frame: Frame): void {
    snapshot = undefined;
    switch (frame.type) {
      case 'text-delta':
        edit(openText(frame.id) ?? beginText(frame.id)).text += frame.delta;
        return;
      case 'reasoning-delta':
        edit(openReasoning(frame.id) ?? beginReasoning(frame.id)).text += frame.delta;
        return;
      case 'text-start':
        beginText(frame.id);
        return;
      case 'reasoning-start':
        beginReasoning(frame.id);
        return;
      case 'text-end': {
        const slot = openText(frame.id);
        if (slot !== undefined) edit(slot).state = 'done';
        texts.delete(frame.id);
        return;
      }
      case 'reasoning-end': {
        const slot = openReasoning(frame.id);
        if (slot !== undefined) edit(slot).state = 'done';
        reasonings.delete(frame.id);
        return;
      }
      case 'start-step':
        pushPart({ type: 'step-start' });
        return;
      case 'data-question':
        if (!replaceQuestion(frame.data)) pushPart({ type: frame.type, data: frame.data });
        return;
      case 'data-notice':
        pushPart({ type: frame.type, data: frame.data });
        return;
      case 'file':
        pushPart({ type: 'file', mediaType: frame.mediaType, url: frame.url });
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
        applyToTool(frame);
    }
  }

  function applyToTool(frame: Frame): void {
    switch (frame.type) {
      case 'tool-input-start':
        setInput(frame.toolCallId, frame.toolName, 'input-streaming', undefined);
        return;
      case 'tool-input-delta':
        addInput(frame.toolCallId, frame.inputTextDelta);
        return;
      case 'tool-input-available':
        setInput(frame.toolCallId, frame.toolName, 'input-available', frame.input);
        return;
      case 'tool-input-error':
        setInput(frame.toolCallId, frame.toolName, 'output-error', frame.input).errorText = frame.errorText;
        return;
      case 'tool-output-available': {
        const part = setResult(frame.toolCallId, 'output-available');
        if (part === undefined) return;
        part.output = frame.output;
        if (frame.preliminary === true) part.preliminary = true;
        return;
      }
      case 'tool-output-error': {
        const part = setResult(frame.toolCallId, 'output-error');
        if (part !== undefined) part.errorText = frame.errorText;
        return;
      }
      case 'tool-approval-request': {
        const slot = tools.get(frame.toolCallId);
        if (slot === undefined) return;
        refreshInput(slot);
        Object.assign(edit(slot), { state: 'approval-requested', approval: { id: frame.approvalId } });
        return;
      }
      case 'tool-approval-response': {
        const slot = slotOfApproval(frame.approvalId);
        if (slot === undefined) return;
        refreshInput(slot);
        const { approved, reason } = frame;
        const approval = { ...slot.part.approval, id: frame.approvalId, approved };
        Object.assign(edit(slot), {
          state: 'approval-responded',
          approval: reason === undefined ? approval : { ...approval, reason },
        });
        return;
      }
      case 'tool-output-denied': {
        const slot = tools.get(frame.toolCallId);
        if (slot === undefined) return;
        refreshInput(slot);
        edit(slot).state = 'output-denied';
        return;
      }
      default:
    }
  }

  return {
    apply,
    get parts(): MessagePart[] {
      if (snapshot !== undefined) return snapshot;
      for (const slot of staleInputs) refreshInput(slot);
      for (const slot of slots) slot.isShared = true;
      snapshot = slots.map((slot) => slot.part);
      return snapshot;
    },
    /** The frames after which `parts` equals `finishParts(parts, …)`; sent when a response is cut off. */
    closingFrames({ toolErrorText, keepsApprovals }: Finishing = {}): Frame[] {
      const frames: Frame[] = [];
      for (const id of reasonings.keys()) frames.push({ type: 'reasoning-end', id });
      for (const id of texts.keys()) frames.push({ type: 'text-end', id });
      const asked = keepsApprovals === true ? askedCalls(slots.map(({ part }) => part)) : noCalls;
      for (const [toolCallId, slot] of tools) {
        if (isToBeClosed(slot.part, keepsApprovals) && !asked.has(toolCallId)) {
          const errorText = cutText(slot.part, toolErrorText);
          frames.push({ type: 'tool-output-error', toolCallId, errorText, dynamic: true });
        }
      }
      return frames;
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

function clearResult(part: DynamicToolPart): void {
  delete part.output;
  delete part.preliminary;
  delete part.errorText;
  delete part.rawInput;
}

function isTextSlot(slot: Slot): slot is Slot<TextPart> {
  return slot.part.type === 'text' && slot.part.state === 'streaming';
}

function isReasoningSlot(slot: Slot): slot is Slot<ReasoningPart> {
  return slot.part.type === 'reasoning' && slot.part.state === 'streaming';
}

/** The newest streaming part without a known id: it came with `initialParts`. */
function findStreaming<Part extends MessagePart>(
  slots: Slot[],
  isKind: (slot: Slot) => slot is Slot<Part>,
  taken: Map<string, Slot<Part>>,
): Slot<Part> | undefined {
  const known = new Set(taken.values());
  return slots.findLast((slot): slot is Slot<Part> => isKind(slot) && !known.has(slot));
}

function mergeMetadata(
  older: MessageMetadata | undefined,
  newer: MessageMetadata | undefined,
): MessageMetadata | undefined {
  return newer === undefined ? older : { ...older, ...newer };
}
