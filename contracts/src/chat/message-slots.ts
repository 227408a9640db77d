import { parsePartialJson } from '../text/partial-json.ts';
import type { DynamicToolPart, Frame, MessagePart, ReasoningPart, TextPart } from './frames.ts';

/** Place of a part in a message that is being assembled. `isShared`: a snapshot holds the part. */
export type Slot<Part extends MessagePart = MessagePart> = { part: Part; isShared: boolean };
type StreamingSlot = Slot<TextPart | ReasoningPart>;
type ToolSlot = Slot<DynamicToolPart> & { position: number };

/** Returns a slot's part for a change; copies it first if a snapshot holds it. */
function edit<Part extends MessagePart>(slot: Slot<Part>): Part {
  if (slot.isShared) {
    slot.part = { ...slot.part };
    slot.isShared = false;
  }
  return slot.part;
}

/** The text or the reasoning parts of a message, by the ids of their frames. */
export class StreamingTexts {
  readonly #slots: Slot[];
  readonly #kind: 'text' | 'reasoning';
  readonly #open = new Map<string, StreamingSlot>();
  #ended: { id: string; slot: StreamingSlot } | undefined;

  constructor(slots: Slot[], kind: 'text' | 'reasoning') {
    this.#slots = slots;
    this.#kind = kind;
  }

  start(id: string): StreamingSlot {
    const slot: StreamingSlot = {
      part:
        this.#kind === 'text'
          ? { type: 'text', text: '', state: 'streaming' }
          : { type: 'reasoning', id, text: '', state: 'streaming' },
      isShared: false,
    };
    this.#slots.push(slot);
    this.#open.set(id, slot);
    return slot;
  }

  append(id: string, delta: string): void {
    edit(this.#find(id) ?? this.start(id)).text += delta;
  }

  end(id: string): void {
    const slot = this.#find(id);
    if (slot !== undefined) edit(slot).state = 'done';
    this.#open.delete(id);
    this.#ended = slot && { id, slot };
  }

  /** Makes reasoning of the text that ended last. */
  becomeReasoning(id: string): void {
    if (this.#ended?.id !== id) return;
    const { slot } = this.#ended;
    Object.assign(slot, { part: { type: 'reasoning', id, text: slot.part.text, state: 'done' }, isShared: false });
    this.#ended = undefined;
  }

  openIds(): string[] {
    return [...this.#open.keys()];
  }

  clear(): void {
    this.#open.clear();
    this.#ended = undefined;
  }

  /** The slot with this id; otherwise the newest streaming part without one, which is from the initial parts. */
  #find(id: string): StreamingSlot | undefined {
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const open = new Set<Slot>(this.#open.values());
    const found = this.#slots.findLast(
      (slot): slot is StreamingSlot => isStreaming(slot.part, this.#kind) && !open.has(slot),
    );
    if (found !== undefined) this.#open.set(id, found);
    return found;
  }
}

function isStreaming(part: MessagePart, kind: 'text' | 'reasoning'): part is TextPart | ReasoningPart {
  return (part.type === 'text' || part.type === 'reasoning') && part.type === kind && part.state === 'streaming';
}

/** The tool calls of a message, by their ids. */
export class ToolCalls {
  readonly #slots: Slot[];
  readonly #calls = new Map<string, ToolSlot>();
  readonly #staleInputs = new Set<ToolSlot>();
  #stepStart = 0;

  constructor(slots: Slot[]) {
    this.#slots = slots;
  }

  add(part: DynamicToolPart, isShared = false): ToolSlot {
    const slot = { part, isShared, position: this.#slots.length };
    this.#slots.push(slot);
    this.#calls.set(part.toolCallId, slot);
    return slot;
  }

  /** Later input frames belong to the new step, even with the id of an earlier call. */
  beginStep(): void {
    this.#stepStart = this.#slots.length;
  }

  parts(): DynamicToolPart[] {
    return [...this.#calls.values()].map(({ part }) => part);
  }

  clear(): void {
    this.#calls.clear();
    this.#staleInputs.clear();
    this.#stepStart = 0;
  }

  /** Applies a frame about a tool call; ignores others. */
  apply(frame: Frame): void {
    switch (frame.type) {
      case 'tool-input-start':
        this.#setInput(frame, 'input-streaming', undefined);
        return;
      case 'tool-input-delta':
        this.#addInput(frame.toolCallId, frame.inputTextDelta);
        return;
      case 'tool-input-available':
        this.#setInput(frame, 'input-available', frame.input);
        return;
      case 'tool-input-error':
        this.#setInput(frame, 'output-error', frame.input).errorText = frame.errorText;
        return;
      case 'tool-output-available': {
        const part = this.#setResult(frame.toolCallId, 'output-available');
        if (part === undefined) return;
        part.output = frame.output;
        if (frame.preliminary === true) part.preliminary = true;
        return;
      }
      case 'tool-output-error': {
        const part = this.#setResult(frame.toolCallId, 'output-error');
        if (part !== undefined) part.errorText = frame.errorText;
        return;
      }
      case 'tool-approval-request': {
        const part = this.#editWithInput(this.#calls.get(frame.toolCallId));
        if (part !== undefined)
          Object.assign(part, { state: 'approval-requested', approval: { id: frame.approvalId } });
        return;
      }
      case 'tool-approval-response':
        this.#setApproval(frame);
        return;
      case 'tool-output-denied': {
        const part = this.#editWithInput(this.#calls.get(frame.toolCallId));
        if (part !== undefined) part.state = 'output-denied';
        return;
      }
      default:
    }
  }

  /** Parses partial inputs. Done when they are read, not per delta, which would cost the square of their length. */
  refreshInputs(): void {
    for (const slot of this.#staleInputs) this.#editWithInput(slot);
  }

  /** Input frames belong to the call with this id in the current step; an earlier step can have used the id too. */
  #setInput(
    { toolCallId, toolName }: { toolCallId: string; toolName: string },
    state: DynamicToolPart['state'],
    input: unknown,
  ): DynamicToolPart {
    const known = this.#calls.get(toolCallId);
    const isCurrent = known !== undefined && known.position >= this.#stepStart;
    const slot = isCurrent ? known : this.add({ type: 'dynamic-tool', toolName, toolCallId, state });
    const part = edit(slot);
    this.#staleInputs.delete(slot);
    clearResult(part);
    part.toolName = toolName;
    part.state = state;
    part.input = input;
    return part;
  }

  #addInput(toolCallId: string, delta: string): void {
    const slot = this.#calls.get(toolCallId);
    if (slot === undefined) return;
    const part = edit(slot);
    part.state = 'input-streaming';
    part.rawInput = (part.rawInput ?? '') + delta;
    this.#staleInputs.add(slot);
  }

  #setResult(toolCallId: string, state: 'output-available' | 'output-error'): DynamicToolPart | undefined {
    const part = this.#editWithInput(this.#calls.get(toolCallId));
    if (part === undefined) return undefined;
    clearResult(part);
    part.state = state;
    return part;
  }

  #setApproval({ approvalId, approved, reason }: Extract<Frame, { type: 'tool-approval-response' }>): void {
    const slot = [...this.#calls.values()].find(({ part }) => part.approval?.id === approvalId);
    const part = this.#editWithInput(slot);
    if (part === undefined) return;
    part.state = 'approval-responded';
    part.approval = { ...part.approval, id: approvalId, approved };
    if (reason !== undefined) part.approval.reason = reason;
  }

  #editWithInput(slot: ToolSlot | undefined): DynamicToolPart | undefined {
    if (slot === undefined) return undefined;
    const part = edit(slot);
    if (this.#staleInputs.delete(slot)) part.input = parsePartialJson(part.rawInput ?? '');
    return part;
  }
}

function clearResult(part: DynamicToolPart): void {
  delete part.output;
  delete part.preliminary;
  delete part.errorText;
  delete part.rawInput;
}
