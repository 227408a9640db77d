import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import type { FollowerSink } from '../log/response-log.ts';
import type { SignalListener } from '../log/signals.ts';

/**
 * Clients that are notified when one of their conversations changes. Signals only save time: a lost one is made up for
 * by the next list.
 */
export class Activity {
  readonly #followers = new Map<string, Set<FollowerSink>>();
  #isClosed = false;

  constructor(signals: Pick<SignalListener, 'on'>) {
    signals.on(({ kind, ids: [ownerId, chatId] }) => {
      if (kind !== 'activity' || ownerId === undefined) return;
      const event = `data: ${JSON.stringify({ chatId })}\n\n`;
      for (const follower of this.#followers.get(ownerId) ?? []) follower.write(event);
    });
  }

  /** Throws `rate_limited` if the account has too many streams here. */
  assertRoom(ownerId: string): void {
    if (this.#isClosed) throw new ApiError('database_unavailable', 'The service is restarting. Try again.');
    if ((this.#followers.get(ownerId)?.size ?? 0) < limits.activityStreamsPerUser) return;
    throw new ApiError('rate_limited', 'This account has too many open windows. Close some.', { retryAfter: 30 });
  }

  /** Returns a function that stops following. */
  follow(ownerId: string, follower: FollowerSink): () => void {
    const followers = this.#followers.get(ownerId) ?? new Set();
    this.#followers.set(ownerId, followers.add(follower));
    return () => {
      followers.delete(follower);
      if (followers.size === 0) this.#followers.delete(ownerId);
    };
  }

  /** Before a replica stops, so that all clients reconnect elsewhere. */
  close(): void {
    this.#isClosed = true;
    for (const followers of [...this.#followers.values()]) for (const follower of [...followers]) follower.end('');
  }
}
