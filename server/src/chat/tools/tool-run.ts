import type { Question } from '@homeport/contracts/chat/agent';
import type { FilePart } from '@homeport/contracts/chat/frames';
import { withOutputSoFar } from '@homeport/contracts/chat/message-assembly';
import { ApiError } from '@homeport/contracts/errors';
import type { ToolPolicy } from '@homeport/contracts/mcp/mcp';
import type { ElicitationAnswer } from '../../mcp/connection/elicitation.ts';
import { systemClock } from '../../platform/clock.ts';
import { within } from '../../platform/waits.ts';
import type { ToolDefinition } from '../model/protocol.ts';
import type { PicturePart } from '../model/provider-messages.ts';
import { storableJson, storableText } from '../model/stream/storable-text.ts';
import type { ReadOnlyRun, ToolEffect, Verdict } from './rules/rule-judge.ts';

/**
 * Tool that a turn can call. `execute` resolves with JSON or a ToolAnswer; the messages of an ApiError and of a
 * ToolFailure reach the model. `readPolicy` is called for each call; a tool without it is allowed.
 */
export type Tool = ToolDefinition & {
  readPolicy?: () => Promise<ToolPolicy>;
  /** Effect on the workspace, for the presets of rules; undefined: none. */
  effect?: ToolEffect;
  /** Of the shell: whether a command can be kept from writing, looked up before one runs without being asked about. */
  canReadOnly?: () => Promise<boolean>;
  /** Decides one call by its policy and the rules in force, at the time of the call (`ruled` in tool-rules.ts). */
  judge?: (input: Record<string, unknown>) => Promise<Verdict>;
  /**
   * Returns the questions to the person whose answers become the result; the tool is then not run. Throws ToolFailure
   * for invalid arguments.
   */
  questionsOf?: (input: Record<string, unknown>) => Question[];
  /** False: the tool is not listed for the model. A function is called before each question. */
  isOffered?: boolean | (() => boolean);
  /** When it has a time of its own, in place of the usual bound. */
  timeoutMs?: number;
  /** Text added to the system message when this tool is available. */
  note?: { layer: 'moment' | 'skills'; text: string };
  execute(input: Record<string, unknown>, context: ToolContext): Promise<unknown>;
};

export type ToolContext = {
  signal: AbortSignal;
  toolCallId: string;
  /** The call was not approved, so it can only read. */
  readOnly?: ReadOnlyRun;
  /** Shows the output so far: a short text that replaces the previous one. */
  report(outputSoFar: string): void;
  /** Asks the person while the tool runs; absent if there is no person to ask. */
  ask?: AskPerson;
};

type AskPerson = (
  asked: { server: string; message: string; url?: string; questions: Question[] },
  signal: AbortSignal,
) => Promise<ElicitationAnswer>;

/**
 * Output for the model, with files for the person beside it; `whole`: what `output` was cut from; `pictures`: `data:`
 * URLs for a model that takes pictures, in this turn.
 */
export class ToolAnswer {
  readonly output: unknown;
  readonly files: readonly FilePart[];
  readonly whole: string | undefined;
  readonly pictures: readonly string[];

  constructor(output: unknown, files: readonly FilePart[], whole?: string, pictures: readonly string[] = []) {
    this.output = output;
    this.files = files;
    this.whole = whole;
    this.pictures = pictures;
  }
}

/** A failure reported by the tool itself, with a message for the model. */
export class ToolFailure extends Error {}

export type ToolResult =
  | { output: unknown; files?: readonly FilePart[]; pictures?: readonly PicturePart[] }
  | { errorText: string }
  /** The person declined the call; `reason` is theirs. */
  | { denied: true; reason: string | undefined };

export type ToolBounds = { toolTimeoutMs: number; maxToolOutputBytes: number };

export type ToolListener = {
  /** Receives errors that are not shown to people. */
  onFailure: (toolName: string, error: unknown) => void;
  onReport: (outputSoFar: string) => void;
  ask?: AskPerson;
};

export const stoppedToolText = 'Stopped before the tool returned a result.';

/**
 * Runs a tool and returns its result. Exceptions become an error text; it never rejects. It stops waiting at the
 * timeout or when the signal aborts, even if the tool ignores its signal; reported output is kept.
 */
export async function runTool(
  tool: Tool,
  input: Record<string, unknown>,
  toolCallId: string,
  bounds: ToolBounds,
  signal: AbortSignal,
  { onFailure, onReport, ask }: ToolListener,
): Promise<ToolResult> {
  const milliseconds = tool.timeoutMs ?? bounds.toolTimeoutMs;
  const seconds = Math.round(milliseconds / 1000);
  const tooLate = (): Error => new Error(`The tool took longer than ${seconds} seconds and was stopped.`);
  const ended = new AbortController();
  let soFar = '';
  try {
    signal.throwIfAborted();
    return await within({ clock: systemClock, milliseconds, signal, tooLate }, (limit) => {
      const own = AbortSignal.any([limit, ended.signal]);
      const report = (outputSoFar: string): void => {
        if (own.aborted) return;
        soFar = storableText(outputSoFar);
        onReport(soFar);
      };
      return execute(tool, input, { signal: own, toolCallId, report, ask }, bounds.maxToolOutputBytes, (error) => {
        if (!own.aborted) onFailure(tool.name, error);
      });
    });
  } catch (error) {
    const errorText = signal.aborted || !(error instanceof Error) ? stoppedToolText : error.message;
    return { errorText: withOutputSoFar(errorText, soFar) };
  } finally {
    // A report that comes after the result would stand in its place.
    ended.abort(new Error('The tool has ended.'));
  }
}

async function execute(
  tool: Tool,
  input: Record<string, unknown>,
  context: ToolContext,
  maxBytes: number,
  onFailure: (error: unknown) => void,
): Promise<ToolResult> {
  try {
    const answer = await tool.execute(input, context);
    if (!(answer instanceof ToolAnswer)) return { output: boundOutput(answer, maxBytes) };
    const pictures = answer.pictures.map((url): PicturePart => ({ type: 'image_url', image_url: { url } }));
    return { output: boundOutput(answer.output, maxBytes), files: answer.files, pictures };
  } catch (error) {
    if (error instanceof ApiError || error instanceof ToolFailure) return { errorText: storableText(error.message) };
    onFailure(error);
    return { errorText: 'The tool failed unexpectedly.' };
  }
}

/** Returns a tool's output as storable JSON of bounded size; longer output becomes text with a note at its end. */
function boundOutput(output: unknown, maxBytes: number): unknown {
  const value = storableJson(output ?? null);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length * 3 <= maxBytes) return value;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return value;
  const kept = bytes
    .subarray(0, maxBytes)
    .toString()
    .replace(/\uFFFD{1,3}$/, '');
  return `${kept}\n[Output cut: the first ${maxBytes} of ${bytes.length} bytes]`;
}
