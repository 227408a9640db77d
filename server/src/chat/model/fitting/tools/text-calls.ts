import { parseForeignJson } from '../../../../platform/json/json-scan.ts';
import type { CompletionResult, CompletionSink, ModelRequest } from '../../protocol.ts';
import { isRecord } from '../../stream/storable-text.ts';
import type { ToolCall } from '../../stream/tool-call-assembly.ts';

/**
 * Reads tool calls that a model writes as text, because its server has no parser for them: `<tool_call>` and JSON, as
 * Qwen and Hermes do. They count only at the end of an answer, on lines of their own outside of code, with names of
 * tools that were offered, and if their arguments are not quoted from the request: a document must not call tools.
 */

const openTag = '<tool_call>';
const closeTag = '</tool_call>';
const maxHeld = 256 * 1024;
const maxCalls = 16;
/** Shorter arguments are found in any text. */
const minQuoted = 12;

export function createTextCalls(sink: CompletionSink, createId: () => string) {
  let pending = '';
  /** Text from the tag on, in the pieces in which it came. */
  let held: string[] = [];
  let heldLength = 0;
  let isObject = false;
  let line = '';
  let isInCode = false;
  let isOver = false;

  function pass(text: string): void {
    const lines = text.split('\n');
    for (const [at, each] of lines.entries()) {
      line = at === 0 ? `${line}${each}`.slice(0, 64) : each.slice(0, 64);
      if (at < lines.length - 1 && /^ {0,3}(?:```|~~~)/.test(line)) isInCode = !isInCode;
    }
    if (text !== '') sink.text(text);
  }

  function release(): void {
    const rest = `${held.join('')}${pending}`;
    held = [];
    pending = '';
    pass(rest);
  }

  /** Holds the text back from a tag on; `pending` is its beginning so far. */
  function take(delta: string): void {
    const text = `${pending}${delta}`;
    pending = '';
    let from = 0;
    for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) {
      const rest = text.slice(at, at + openTag.length);
      if (!openTag.startsWith(rest)) continue;
      pass(text.slice(from, at));
      from = at;
      if (isInCode || line.trim() !== '') continue;
      if (rest.length < openTag.length) pending = rest;
      else hold(text.slice(at));
      return;
    }
    pass(text.slice(from));
  }

  /** Keeps a piece of a call; one that is too long, or without an object after the tag, is text. */
  function hold(text: string): void {
    held.push(text);
    heldLength += text.length;
    if (!isObject) {
      held = [held.join('')];
      const start = held[0]?.slice(openTag.length).trimStart() ?? '';
      isObject = start.startsWith('{');
      if (start !== '' && !isObject) giveUp();
    }
    if (heldLength > maxHeld) giveUp();
  }

  function giveUp(): void {
    release();
    isOver = true;
  }

  return {
    sink: {
      text(delta: string): void {
        if (isOver) sink.text(delta);
        else if (held.length > 0) hold(delta);
        else take(delta);
      },
      reasoning(delta: string): void {
        if (held.length === 0) release();
        sink.reasoning(delta);
      },
      textWasReasoning: (text: string) => sink.textWasReasoning?.(text),
      toolStart(call: { id: string; name: string }): void {
        giveUp();
        sink.toolStart(call);
      },
      toolDelta: sink.toolDelta,
      state: (item: unknown) => sink.state?.(item),
      source: (source) => sink.source?.(source),
      picture: (picture) => sink.picture?.(picture),
    } satisfies CompletionSink,
    /** The end of an answer: its calls or, if there are none, the text that was held back. */
    finish(answer: CompletionResult, request: Pick<ModelRequest, 'tools' | 'history' | 'messages'>): CompletionResult {
      const calls =
        held.length === 0 || answer.toolCalls.length > 0 ? undefined : readCalls(held.join(''), request, createId);
      if (calls === undefined) {
        release();
        return answer;
      }
      for (const { id, name, arguments: text } of calls) {
        sink.toolStart({ id, name });
        sink.toolDelta(id, text);
      }
      const isCut = answer.finishReason === 'length' || answer.finishReason === 'content-filter';
      return { ...answer, toolCalls: calls, finishReason: isCut ? answer.finishReason : 'tool-calls' };
    },
    release,
  };
}

function readCalls(
  text: string,
  request: Pick<ModelRequest, 'tools' | 'history' | 'messages'>,
  createId: () => string,
): ToolCall[] | undefined {
  const blocks = text.trim().split(openTag).slice(1);
  if (blocks.length === 0 || blocks.length > maxCalls) return undefined;
  const sent = bare(`${request.history ?? ''}${JSON.stringify(request.messages)}`);
  const calls: ToolCall[] = [];
  for (const block of blocks) {
    const call = readCall(block);
    const isOffered = request.tools?.some(({ name }) => name === call?.name) === true;
    if (call === undefined || !isOffered) return undefined;
    const quoted = bare(call.arguments);
    if (quoted.length >= minQuoted && sent.includes(quoted)) return undefined;
    calls.push({ id: createId(), ...call });
  }
  return calls;
}

function readCall(block: string): Omit<ToolCall, 'id'> | undefined {
  const end = block.indexOf(closeTag);
  if (end !== -1 && block.slice(end + closeTag.length).trim() !== '') return undefined;
  try {
    const value = parseForeignJson(end === -1 ? block : block.slice(0, end));
    if (!isRecord(value) || typeof value.name !== 'string') return undefined;
    const given = value.arguments ?? value.parameters ?? {};
    return { name: value.name, arguments: typeof given === 'string' ? given : JSON.stringify(given) };
  } catch {
    return undefined;
  }
}

/** Without the characters that quoting and formatting change. */
function bare(text: string): string {
  return text.replaceAll(/\\[nrt]|[\s\\]/g, '');
}
