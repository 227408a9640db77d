import { ApiError } from '@homeport/contracts/errors';
import { createJsonTracker, type JsonTracker } from './json-tracker.ts';
import { isRecord, storableText } from './storable-text.ts';

/** A finished tool call; `arguments` is the raw JSON text, `{}` if the model sent none. */
export type ToolCall = { id: string; name: string; arguments: string };

/** Receives tool calls while they stream. */
export type ToolCallSink = {
  toolStart(call: { id: string; name: string }): void;
  toolDelta(id: string, delta: string): void;
};

export type ToolCallBounds = { maxToolCalls: number; maxArgumentLength: number };

type OpenCall = Omit<ToolCall, 'arguments'> & {
  index: number | undefined;
  providerId: string | undefined;
  started: boolean;
  /** The arguments so far, in pieces as received: no piece may cost the length of them all. */
  pieces: string[];
  length: number;
  json: JsonTracker;
};
type Piece = { index: number | undefined; id: string | undefined; name: string; text: string; alone: boolean };

const maxIdLength = 256;
const maxNameLength = 256;

/**
 * Assembles streamed tool calls. Servers differ: indexes missing or all 0, ids missing or new in every delta, names
 * repeated, arguments in one piece or as an object, whole calls sent twice. Ids given out are unique.
 */
export function createToolCallAssembler(sink: ToolCallSink, createId: () => string, bounds: ToolCallBounds) {
  const calls: OpenCall[] = [];
  const byId = new Map<string, OpenCall>();
  const byIndex = new Map<number, OpenCall>();

  function push(piece: Piece): void {
    const known = findCall(piece);
    if (known === undefined) {
      begin(piece);
      return;
    }
    if (known.name === '' && piece.name !== '') known.name = piece.name;
    if (isSentAgain(known, piece.text)) return;
    extend(known, piece.text);
  }

  function findCall(piece: Piece): OpenCall | undefined {
    const atIndex = piece.index === undefined ? undefined : byIndex.get(piece.index);
    const withId = piece.id === undefined ? undefined : byId.get(piece.id);
    if (withId !== undefined) {
      const elsewhere = piece.index !== undefined && withId.index !== undefined && piece.index !== withId.index;
      if (elsewhere && atIndex !== undefined) return atIndex;
      return piece.name !== '' && (elsewhere || isRestart(withId, piece)) ? undefined : withId;
    }
    if (piece.id !== undefined && piece.name !== '') {
      return atIndex !== undefined && atIndex.providerId === undefined && !isRestart(atIndex, piece)
        ? atIndex
        : undefined;
    }
    const candidate = piece.index === undefined ? calls.at(-1) : atIndex;
    if (candidate === undefined || piece.name === '') return candidate;
    return piece.index === undefined && !piece.alone ? undefined : isRestart(candidate, piece) ? undefined : candidate;
  }

  function begin(piece: Piece): void {
    if (calls.length >= bounds.maxToolCalls) {
      throw new ApiError('provider_error', `The model asked for more than ${bounds.maxToolCalls} tools at once.`);
    }
    const usable = piece.id !== undefined && !byId.has(piece.id);
    const call: OpenCall = {
      id: usable && piece.id !== undefined ? piece.id : createId(),
      name: piece.name,
      index: piece.index,
      providerId: piece.id,
      started: false,
      pieces: [],
      length: 0,
      json: createJsonTracker(),
    };
    calls.push(call);
    byId.set(call.id, call);
    if (piece.index !== undefined) byIndex.set(piece.index, call);
    extend(call, piece.text);
  }

  function extend(call: OpenCall, text: string): void {
    if (call.length + text.length > bounds.maxArgumentLength) {
      throw new ApiError('provider_error', 'The model sent tool arguments that are too long.');
    }
    if (text !== '') call.pieces.push(text);
    call.length += text.length;
    call.json.add(text);
    if (call.name === '') return;
    if (call.started) {
      if (text !== '') sink.toolDelta(call.id, storableText(text));
      return;
    }
    start(call);
  }

  function start(call: OpenCall): void {
    call.started = true;
    sink.toolStart({ id: call.id, name: call.name });
    if (call.length > 0) sink.toolDelta(call.id, storableText(argumentsOf(call)));
  }

  return {
    /** The `tool_calls` member of a delta or of a whole message. */
    push(entries: unknown): void {
      if (!Array.isArray(entries)) return;
      for (const entry of entries) {
        if (isRecord(entry)) push(readPiece(entry, entry.function, entries.length === 1));
      }
    },
    /** The `function_call` member that preceded `tool_calls`. */
    pushLegacy(entry: unknown): void {
      if (isRecord(entry)) push(readPiece({ index: 0 }, entry, true));
    },
    finish(): ToolCall[] {
      for (const call of calls) {
        if (call.name === '') call.name = 'unknown';
        if (!call.started) start(call);
      }
      return calls.map((call) => ({ id: call.id, name: call.name, arguments: argumentsOf(call).trim() || '{}' }));
    },
  };
}

function readPiece(entry: Record<string, unknown>, source: unknown, alone: boolean): Piece {
  // Some servers write the members of the function beside it.
  const called = isRecord(source) ? source : isRecord(entry.custom) ? entry.custom : entry;
  const index = typeof entry.index === 'string' ? Number.parseInt(entry.index, 10) : entry.index;
  const id = typeof entry.id === 'number' ? String(entry.id) : entry.id;
  const text = called.arguments ?? called.parameters ?? called.input;
  return {
    index: Number.isSafeInteger(index) ? Number(index) : undefined,
    id: typeof id === 'string' && id !== '' && id.length <= maxIdLength ? storableText(id) : undefined,
    name: typeof called.name === 'string' ? storableText(called.name).slice(0, maxNameLength) : '',
    text: typeof text === 'object' && text !== null ? JSON.stringify(text) : typeof text === 'string' ? text : '',
    alone,
  };
}

/** A name on a complete call begins another call, unless the same call is just sent again. */
function isRestart(call: OpenCall, piece: Piece): boolean {
  if (call.name !== '' && call.name !== piece.name) return true;
  return piece.text !== '' && call.json.isComplete && !isSentAgain(call, piece.text);
}

/** The lengths are compared first, so that joining costs no more than the piece itself. */
function isSentAgain(call: OpenCall, text: string): boolean {
  return call.json.isComplete && text.length === call.length && text === argumentsOf(call);
}

function argumentsOf(call: OpenCall): string {
  if (call.pieces.length > 1) call.pieces = [call.pieces.join('')];
  return call.pieces[0] ?? '';
}
