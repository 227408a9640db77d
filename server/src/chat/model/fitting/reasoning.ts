import type { StepState } from '../protocol.ts';
import type { ChatMessage } from '../provider-messages.ts';
import { isRecord } from '../stream/storable-text.ts';
import type { ToolCall } from '../stream/tool-call-assembly.ts';
import type { RequestShape } from './shape.ts';

/**
 * Reasoning state of chat completions: the members that a server sends beside the text, and wants back in the same
 * form. Nothing of it is interpreted.
 */

type AssistantMessage = Extract<ChatMessage, { role: 'assistant' }>;
type CallExtra = Record<string, unknown>;
type CallEntry = { id: unknown; index: unknown; extra: CallExtra };
/** Members of the message, and of its calls by their position. */
type State = { members: Record<string, unknown>; calls: (CallExtra | null)[] };

/** State that only its server can read; the text of the reasoning is not. */
const opaqueMembers = new Set(['reasoning_details', 'thinking_blocks', 'extra_content']);
const textMembers = ['reasoning_content', 'reasoning'] as const;
/** The member in which text of the reasoning came. */
export type StateMember = (typeof textMembers)[number] | 'thinking';
const callMembers = ['extra_content', 'provider_specific_fields'] as const;

/** Google's documented stand-in for the signature of a call that another model made. */
const foreignSignature = { google: { thought_signature: 'skip_thought_signature_validator' } };
const unavailable = '[Not available]';
const maxDetails = 512;

/** Gathers the state of one streamed answer; `count` is called with the length of what is kept. */
export function createStateGatherer(count: (length: number) => void) {
  const members: Record<string, unknown> = {};
  const calls: CallEntry[] = [];
  const texts: string[] = [];
  let textMember: string | undefined;
  const lists = new Map<string, Record<string, unknown>[]>();

  function addToList(name: string, value: unknown): void {
    if (!Array.isArray(value)) return;
    const list = lists.get(name) ?? [];
    lists.set(name, list);
    for (const item of value) {
      if (!isRecord(item)) continue;
      count(JSON.stringify(item).length);
      const last = list.at(-1);
      if (last !== undefined && isContinued(last, item)) continueItem(last, item);
      else if (list.length < maxDetails) list.push({ ...item });
    }
  }

  function addCalls(entries: unknown): void {
    if (!Array.isArray(entries)) return;
    for (const call of entries) {
      const given = isRecord(call) ? callMembers.filter((name) => isRecord(call[name])) : [];
      if (!isRecord(call) || given.length === 0 || calls.length >= maxDetails) continue;
      const extra = Object.fromEntries(given.map((name) => [name, counted(call[name], count)]));
      calls.push({ id: call.id, index: call.index, extra });
    }
  }

  return {
    /** One delta of a message; true if it had members to keep. */
    add(delta: Record<string, unknown>): boolean {
      const { reasoning_details: details, thinking_blocks: blocks, extra_content: extra } = delta;
      if (details !== undefined) addToList('reasoning_details', details);
      if (blocks !== undefined) addToList('thinking_blocks', blocks);
      if (isRecord(extra)) members.extra_content = counted(extra, count);
      addCalls(delta.tool_calls);
      return details !== undefined || blocks !== undefined || extra !== undefined;
    },
    /** Text of the reasoning, and the member in which it came. */
    addText(text: string, member: StateMember): void {
      textMember ??= member;
      texts.push(text);
    },
    /** Undefined if there is nothing to send back. */
    finish(toolCalls: readonly ToolCall[]): StepState | undefined {
      if (textMember !== undefined) members[textMember] = texts.join('');
      for (const [name, list] of lists) if (list.length > 0) members[name] = list;
      const extras = placeExtras(calls, toolCalls);
      const isEmpty = Object.keys(members).length === 0 && extras.every((extra) => extra === null);
      return isEmpty || toolCalls.length === 0 ? undefined : [{ members, calls: extras }];
    },
  };
}

/**
 * The members of each call. Their entries name the call by id or index; some servers send empty ids, or 0 for every
 * index, and then they come in the order of the calls.
 */
function placeExtras(entries: readonly CallEntry[], toolCalls: readonly ToolCall[]): (CallExtra | null)[] {
  const indexes = new Set(entries.map(({ index }) => index));
  const extras: (CallExtra | null)[] = toolCalls.map(() => null);
  for (const [order, { id, index, extra }] of entries.entries()) {
    const named = toolCalls.findIndex((call) => call.id === id);
    const place = typeof index === 'number' && indexes.size === entries.length ? index : order;
    const at = named === -1 ? place : named;
    if (at < extras.length) extras[at] = { ...extras[at], ...extra };
  }
  return extras;
}

function counted(value: unknown, count: (length: number) => void): unknown {
  count(JSON.stringify(value).length);
  return value;
}

/** Texts are streamed in pieces with the same index; anything else is whole. */
function isContinued(last: Record<string, unknown>, item: Record<string, unknown>): boolean {
  if (last.type !== item.type || last.index !== item.index || item.data !== undefined) return false;
  return ['text', 'summary', 'thinking', 'signature'].some((name) => typeof item[name] === 'string');
}

function continueItem(last: Record<string, unknown>, item: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(item)) {
    const before = last[name];
    const grows = ['text', 'summary', 'thinking'].includes(name) && typeof before === 'string';
    if (grows && typeof value === 'string') last[name] = `${before}${value}`;
    else if (value !== null && value !== undefined) last[name] = value;
  }
}

/** The state of a step with this reasoning, in the form of other steps of its turn. */
export function textStateLike(others: readonly StepState[], reasoning: string): StepState | undefined {
  if (reasoning === '') return undefined;
  const names = others.flatMap((other) => Object.keys(readState(other)?.members ?? {}));
  const name = textMembers.find((each) => names.includes(each));
  return name === undefined ? undefined : [{ members: { [name]: reasoning }, calls: [] }];
}

export type WireContext = {
  shape: RequestShape;
  /** The model that is asked. */
  source: string | undefined;
  /** True if calls of other models need a signature. */
  signs: boolean;
};

/** True if this server made the message's state. */
function hasOwnState({ stepState, stateOf }: AssistantMessage, source: string | undefined): boolean {
  return stepState !== undefined && (stateOf === undefined || stateOf === source);
}

/** True if this server gets everything back that it can demand of the message. */
export function hasWholeState(message: AssistantMessage, source: string | undefined): boolean {
  const state = hasOwnState(message, source) ? readState(message.stepState) : undefined;
  if (state === undefined) return false;
  const names = Object.keys(state.members);
  const isWhole = names.some((name) => name === 'reasoning_content' || opaqueMembers.has(name));
  return isWhole || state.calls.some((extra) => extra !== null);
}

/** The message as a server of chat completions reads it. */
export function wireMessage(message: ChatMessage, context: WireContext): Record<string, unknown> {
  if (message.role !== 'assistant') return message;
  const { stepState, stateOf, reasoning_content: _own, content, tool_calls: calls, ...rest } = message;
  const { shape } = context;
  const state = hasOwnState(message, context.source) ? readState(stepState) : undefined;
  const { thinking, ...members } = sentMembers(state, shape, stateOf !== undefined);
  const isDemanded = shape.reasoningAlways && calls !== undefined && members.reasoning_content === undefined;
  const isSubstituted = isDemanded && !shape.refusedMembers.has('reasoning_content');
  return {
    ...rest,
    ...contentOf(content, calls !== undefined, thinking, shape),
    ...members,
    ...(isSubstituted ? { reasoning_content: members.reasoning ?? thinking ?? unavailable } : {}),
    ...(calls === undefined
      ? {}
      : { tool_calls: calls.map((call, at) => ({ ...call, ...extraOf(state, at, context) })) }),
  };
}

/** Text of earlier turns is sent only where it is demanded: it costs tokens, and most templates drop it. */
function sentMembers(state: State | undefined, shape: RequestShape, isEarlier: boolean): Record<string, unknown> {
  const isSent = (name: string): boolean =>
    !shape.refusedMembers.has(name) && (!isEarlier || shape.reasoningAlways || opaqueMembers.has(name));
  return Object.fromEntries(Object.entries(state?.members ?? {}).filter(([name]) => isSent(name)));
}

function contentOf(
  content: AssistantMessage['content'],
  hasCalls: boolean,
  thinking: unknown,
  { emptyContent }: RequestShape,
): Record<string, unknown> {
  if (typeof thinking === 'string') {
    const thought = { type: 'thinking', thinking: [{ type: 'text', text: thinking }] };
    return { content: content === null || content === '' ? [thought] : [thought, { type: 'text', text: content }] };
  }
  if (!hasCalls || (content !== null && content !== '')) return { content: content ?? '' };
  return emptyContent === 'absent' ? {} : { content: emptyContent === 'text' ? '' : null };
}

function extraOf(state: State | undefined, at: number, { shape, signs }: WireContext): CallExtra {
  const extra = state?.calls[at];
  const members = Object.entries(extra ?? {}).filter(([name]) => !shape.refusedMembers.has(name));
  const isSigned = members.length > 0 || at > 0 || !signs || shape.refusedMembers.has('extra_content');
  return isSigned ? Object.fromEntries(members) : { extra_content: foreignSignature };
}

/** The format that `createStateGatherer` writes. */
function readState(stepState: StepState | undefined): State | undefined {
  const state: unknown = stepState?.[0];
  if (!isRecord(state) || !isRecord(state.members) || !Array.isArray(state.calls)) return undefined;
  return { members: state.members, calls: state.calls.map((extra) => (isRecord(extra) ? extra : null)) };
}
