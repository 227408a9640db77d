import { TextDecoder } from 'node:util';
import { systemClock } from '../../../platform/clock.ts';
import { parseForeignJson } from '../../../platform/json/json-scan.ts';
import { droppedConnection, streamedError, unreadableAnswer } from '../failures/provider-errors.ts';
import type { AnswerParser, CompletionResult } from '../protocol.ts';
import { type ProviderBody, readBody } from '../provider-body.ts';
import { errorIn } from './answer-errors.ts';
import { isRecord } from './storable-text.ts';

type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

/** How long the end of the stream may take after the reason for the end. */
const endMs = 3_000;
/** The longest whole (not streamed) answer, in UTF-16 units. */
const maxWholeLength = 24 * 1024 * 1024;

/**
 * Reads the body of a 200 response: an event stream or, from servers that ignore `stream: true`, one JSON object. The
 * first character distinguishes them, since content types are often wrong. Rejects like a `ModelClient`.
 */
export async function readCompletion(
  body: ProviderBody,
  parser: AnswerParser,
  signal: AbortSignal,
  sleep: Sleep = systemClock.sleep,
): Promise<CompletionResult> {
  const ending = watchEnd(parser, sleep);
  const decode = createDecoder();
  const state: { mode: 'unknown' | 'events' | 'whole' } = { mode: 'unknown' };
  const whole: string[] = [];
  let wholeLength = 0;
  let isFlushDue = false;
  let failure: { error: unknown } | undefined;

  // One socket read may bring many chunks, all passed on before microtasks run: their deltas become one.
  const flushLater = (): void => {
    if (isFlushDue) return;
    isFlushDue = true;
    queueMicrotask(() => {
      isFlushDue = false;
      try {
        parser.flush();
      } catch (error) {
        failure ??= { error };
      }
    });
  };

  const onChunk = (chunk: Uint8Array): boolean => {
    if (failure !== undefined) throw failure.error;
    const text = decode(chunk);
    if (state.mode === 'unknown') state.mode = sniff(text);
    if (state.mode !== 'whole') {
      parser.feed(text);
      ending.look();
      flushLater();
      return parser.isDone;
    }
    wholeLength += text.length;
    if (wholeLength > maxWholeLength) throw unreadableAnswer('answer');
    whole.push(text);
    return false;
  };

  try {
    await readBody(body, onChunk, AbortSignal.any([signal, ending.signal]));
    if (failure !== undefined) throw failure.error;
    if (state.mode === 'whole') readWhole(parser, parseWhole(whole.join('')));
    else parser.feed('\n\n');
  } catch (error) {
    // A finish reason completes the answer even if the connection breaks right after it.
    const result = endQuietly(parser);
    if (result === undefined || signal.aborted || state.mode === 'whole') throw error;
    return result;
  } finally {
    ending.stop();
  }
  const result = parser.end();
  if (result === undefined) throw droppedConnection();
  return result;
}

/** Ends an answer whose server keeps the connection open after the reason for its end. */
function watchEnd(parser: AnswerParser, sleep: Sleep): { signal: AbortSignal; look: () => void; stop: () => void } {
  const late = new AbortController();
  let waiting: AbortController | undefined;
  const stop = (): void => {
    waiting?.abort();
    waiting = undefined;
  };
  return {
    signal: late.signal,
    stop,
    look() {
      if (parser.hasFinish === (waiting !== undefined)) return;
      if (waiting !== undefined) return stop();
      waiting = new AbortController();
      sleep(endMs, waiting.signal).then(
        () => late.abort(droppedConnection()),
        () => undefined,
      );
    },
  };
}

function endQuietly(parser: AnswerParser): CompletionResult | undefined {
  try {
    return parser.end();
  } catch {
    return undefined;
  }
}

const fieldNames = ['data:', 'event:', 'id:', 'retry:', ':'];

function sniff(text: string): 'unknown' | 'events' | 'whole' {
  const start = text.trimStart();
  if (start === '') return 'unknown';
  if (start.startsWith('{') || start.startsWith('[')) return 'whole';
  if (fieldNames.some((name) => start.startsWith(name) || name.startsWith(start))) return 'events';
  throw unreadableAnswer(start.startsWith('<') ? 'web page' : 'answer');
}

function readWhole(parser: AnswerParser, value: unknown): void {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  const error = isRecord(first) ? errorIn(first) : undefined;
  if (error !== undefined) throw streamedError(error);
  parser.readWhole(value);
}

function parseWhole(text: string): unknown {
  try {
    return parseForeignJson(text.trim());
  } catch {
    throw unreadableAnswer('answer');
  }
}

/** Decodes UTF-8 across chunks. A chunk that ends in ASCII cannot cut a character and takes the fast path. */
function createDecoder(): (chunk: Uint8Array) => string {
  let decoder: TextDecoder | undefined;
  let isCut = false;
  return (chunk) => {
    const endsPlain = (chunk[chunk.length - 1] ?? 0) < 0x80;
    if (endsPlain && !isCut) return toBuffer(chunk).toString('utf8');
    decoder ??= new TextDecoder('utf-8', { ignoreBOM: true });
    if (chunk.length > 0) isCut = !endsPlain;
    return decoder.decode(chunk, { stream: true });
  };
}

function toBuffer(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
