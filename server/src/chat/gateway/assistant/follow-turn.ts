import type { Frame } from '@homeport/contracts/chat/frames';
import { ApiError } from '@homeport/contracts/errors';
import type { Platform } from '../../../platform.ts';
import { followResponse } from '../../run/follow.ts';
import type { RunningResponses } from '../../run/running-responses.ts';

const dataStart = 'data: ';
const done = '[DONE]';

/** Calls `onFrame` with each frame of a response, and resolves when it has ended. Rejects when the signal aborts. */
export async function followTurn(
  deps: Pick<Platform, 'db' | 'clock'> & { responses: RunningResponses },
  responseId: string,
  onFrame: (frame: Frame) => void,
  signal: AbortSignal,
): Promise<void> {
  let seen = 0;
  for (;;) {
    const ended = Promise.withResolvers<boolean>();
    const left = new AbortController();
    let isDone = false;
    const read = (events: string): void => {
      for (const event of events.split('\n\n')) {
        const data = dataOf(event);
        if (data === undefined) continue;
        isDone ||= data === done;
        if (data === done) continue;
        seen = sequenceOf(event) ?? seen;
        onFrame(parseFrame(data));
      }
    };
    const abort = () => ended.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      const end = (events: string): void => {
        read(events);
        ended.resolve(isDone);
      };
      await followResponse(deps, responseId, seen, { closed: false, write: read, end }, left.signal);
      if (await ended.promise) return;
    } finally {
      signal.removeEventListener('abort', abort);
      left.abort();
    }
    // The replica that made it no longer does, and this one stops as well.
    if (deps.responses.draining) throw new ApiError('provider_unreachable', 'The server is restarting. Try again.');
  }
}

function dataOf(event: string): string | undefined {
  return lineOf(event, dataStart);
}

function sequenceOf(event: string): number | undefined {
  const id = lineOf(event, 'id: ');
  return id === undefined ? undefined : Number(id);
}

function lineOf(event: string, start: string): string | undefined {
  return event
    .split('\n')
    .find((line) => line.startsWith(start))
    ?.slice(start.length);
}

/** The text is our own. */
function parseFrame(data: string): Frame {
  return JSON.parse(data) as Frame;
}
