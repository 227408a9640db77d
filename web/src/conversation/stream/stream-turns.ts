import { wait } from './backoff.ts';

/** Runs `work` when it is its turn; `turn` aborts once another window waits for the place and the time is over. */
export type StreamTurns = <T>(signal: AbortSignal, work: (turn: AbortSignal) => Promise<T>) => Promise<T>;

/**
 * Streams of answers that the windows of a browser hold at once. A browser opens six connections to a server over
 * HTTP/1.1: one is for the activity stream, and two are left for requests.
 */
const places = 3;
/** Milliseconds of a turn, and between two looks at who waits after it. */
const turnMs = 1_000;
const lookMs = 500;

type Locks = Pick<LockManager, 'request' | 'query'>;

/**
 * A counting semaphore for all windows of an account, made of Web Locks, whose holders take turns: windows with more
 * running answers than places catch up one after the other. Without locks, as on pages without TLS, no window waits.
 */
export function createStreamTurns(locks: Locks | undefined, name: string, pause = wait): StreamTurns {
  if (!locks) return (_signal, work) => work(new AbortController().signal);
  const names = Array.from({ length: places }, (_, index) => `answer-${index}:${name}`);
  return async (signal, work) => {
    const take = (place: string) =>
      locks.request(place, { signal }, async () => {
        const over = new AbortController();
        const ended = new AbortController();
        void endTurn(locks, place, over, AbortSignal.any([signal, ended.signal]), pause).catch(() => {});
        try {
          return await work(over.signal);
        } finally {
          ended.abort();
        }
      });
    // One window chooses at a time, or all that open at once would choose the same place.
    const { turn } = await locks.request(`answers:${name}`, { signal }, async () => ({
      turn: take(await emptiest(locks, names)),
    }));
    return turn;
  };
}

/** The place with the fewest holders and waiting windows. */
async function emptiest(locks: Locks, names: readonly string[]): Promise<string> {
  const { held = [], pending = [] } = await locks.query();
  const taken = [...held, ...pending].map((lock) => lock.name);
  const countOf = (name: string) => taken.filter((other) => other === name).length;
  return names.reduce((best, name) => (countOf(name) < countOf(best) ? name : best));
}

async function endTurn(
  locks: Locks,
  place: string,
  over: AbortController,
  signal: AbortSignal,
  pause: typeof wait,
): Promise<void> {
  for (let ms = turnMs; ; ms = lookMs) {
    await pause(ms, signal);
    const { pending = [] } = await locks.query();
    if (pending.some((lock) => lock.name === place)) return over.abort();
  }
}
