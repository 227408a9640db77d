import { ApiFailure } from '../../api/api-failure.ts';
import { backoff, wait } from './backoff.ts';
import { SseParser } from './sse-parser.ts';

type ActivityDeps = {
  open: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array> | null>;
  /**
   * Undefined where a browser has none, as on pages without TLS: each visible window then holds a stream of its own.
   */
  locks: Pick<LockManager, 'request'> | undefined;
  /** Names the lock: one stream for all windows of an account in this browser. */
  name: string;
  page: Pick<Document, 'visibilityState' | 'addEventListener' | 'removeEventListener'>;
  /** Target of the `online` event: the browser window. */
  network: EventTarget;
  /** Called after a change, and after each gap in which a change was possible. */
  onActivity: () => void;
};

/** Milliseconds after page load during which the first queries are as fresh as the stream. */
const freshFor = 3_000;
/** Attempts until `backoff` reaches its longest wait; the lists are refetched as often. */
const fullLimit = 6;

/**
 * Subscribes to activity on other devices while the page is visible. Only one window of the browser holds the stream,
 * since browsers open only six connections to one server. Returns an unsubscribe function.
 */
export function followActivity(deps: ActivityDeps): () => void {
  const openedAt = performance.now();
  const isFresh = () => performance.now() - openedAt < freshFor;
  let run: AbortController | undefined;
  const settle = () => {
    if (deps.page.visibilityState !== 'visible') {
      run?.abort();
      run = undefined;
    } else if (!run) {
      run = new AbortController();
      hold(deps, isFresh, run.signal).catch(() => {});
    }
  };
  settle();
  deps.page.addEventListener('visibilitychange', settle);
  return () => {
    deps.page.removeEventListener('visibilitychange', settle);
    run?.abort();
  };
}

async function hold(deps: ActivityDeps, isFresh: () => boolean, signal: AbortSignal): Promise<void> {
  if (!deps.locks) return listen(deps, isFresh, signal);
  await deps.locks.request(`activity:${deps.name}`, { signal }, () => listen(deps, isFresh, signal));
}

async function listen(deps: ActivityDeps, isFresh: () => boolean, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    if (attempt > 0) await wait(backoff(Math.min(attempt, fullLimit)), signal, deps.network);
    try {
      const body = await deps.open(signal);
      if (body) {
        if (!isFresh()) deps.onActivity();
        await read(body, () => {
          attempt = 0;
          deps.onActivity();
        });
      }
    } catch (error) {
      signal.throwIfAborted();
      const isFull = error instanceof ApiFailure && error.code === 'rate_limited';
      if (isFull) attempt = fullLimit;
      else if (error instanceof ApiFailure && error.isRefusal) return;
    }
  }
}

async function read(body: ReadableStream<Uint8Array>, onEvent: () => void): Promise<void> {
  const parser = new SseParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (parser.push(decoder.decode(value, { stream: true })).length > 0) onEvent();
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
