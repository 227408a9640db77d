import type { Frame } from '@homeport/contracts/chat/frames';
import { SseParser } from './sse-parser.ts';
import type { StreamTurns } from './stream-turns.ts';

/**
 * How following a response's stream ended: `done` by its own end, `none` when none is running, `broken` in between, and
 * `yielded` when another window's turn came.
 */
export type StreamEnd = 'done' | 'none' | 'broken' | 'yielded';

export type StreamDeps = {
  open: (chatId: string, after: string | undefined, signal: AbortSignal) => Promise<ReadableStream<Uint8Array> | null>;
  /**
   * Pause between two reads, so that frames which arrive meanwhile are read in one go; waking up for every word costs more
   * than the word.
   */
  pause: () => Promise<void>;
  turns: StreamTurns;
};

type StreamRequest = { chatId: string; after: string | undefined; signal: AbortSignal };
type OnFrame = (frame: Frame, sequence: string | undefined) => void;

/**
 * Follows the running response of a conversation and hands on each frame with its sequence number. Throws what opening
 * throws and the signal's reason; a stream that breaks off or cannot be read ends as `broken`.
 */
export function followResponse(deps: StreamDeps, request: StreamRequest, onFrame: OnFrame): Promise<StreamEnd> {
  return deps.turns(request.signal, (turn) => follow(deps, request, turn, onFrame));
}

async function follow(
  deps: StreamDeps,
  request: StreamRequest,
  turn: AbortSignal,
  onFrame: OnFrame,
): Promise<StreamEnd> {
  const body = await deps.open(request.chatId, request.after, request.signal);
  if (!body) return 'none';
  const parser = new SseParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  const yieldTurn = () => void reader.cancel().catch(() => {});
  turn.addEventListener('abort', yieldTurn);
  try {
    if (turn.aborted) return 'yielded';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return turn.aborted ? 'yielded' : 'broken';
      for (const event of parser.push(decoder.decode(value, { stream: true }))) {
        if (event.data === '[DONE]') return 'done';
        const frame = parseFrame(event.data);
        if (frame) onFrame(frame, event.id);
      }
      await deps.pause();
    }
  } catch {
    request.signal.throwIfAborted();
    return 'broken';
  } finally {
    turn.removeEventListener('abort', yieldTurn);
    reader.cancel().catch(() => {});
  }
}

/** Skips malformed frames, so that one of them doesn't break the whole answer. */
function parseFrame(data: string): Frame | undefined {
  try {
    const value: unknown = JSON.parse(data);
    const isFrame = typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
    return isFrame ? (value as Frame) : undefined;
  } catch {
    return undefined;
  }
}
