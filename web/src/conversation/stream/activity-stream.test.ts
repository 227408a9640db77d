import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import { followActivity } from './activity-stream.ts';

/** A browser's locks, as far as windows that wait for one need them. */
function createLocks(): Pick<LockManager, 'request'> {
  let last: Promise<unknown> = Promise.resolve();
  const request = async (_name: string, { signal }: LockOptions, work: () => Promise<void>) => {
    const turn = last.catch(() => {}).then(() => (signal?.aborted ? undefined : work()));
    last = turn;
    return turn;
  };
  return { request } as Pick<LockManager, 'request'>;
}

class Page extends EventTarget {
  visibilityState: DocumentVisibilityState = 'visible';
  turn(state: DocumentVisibilityState): void {
    this.visibilityState = state;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

/** A window with writable streams; `news` counts the notifications. */
function openWindow(locks: Pick<LockManager, 'request'> | undefined) {
  const page = new Page();
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  const shown = { page, streams, open: 0, news: 0, leave: () => {} };
  shown.leave = followActivity({
    open: async (signal) => {
      shown.open += 1;
      signal.addEventListener('abort', () => {
        shown.open -= 1;
      });
      return new ReadableStream({
        start(controller) {
          streams.push(controller);
          signal.addEventListener('abort', () => controller.error(signal.reason));
        },
      });
    },
    locks,
    name: 'user',
    page,
    network: new EventTarget(),
    onActivity: () => {
      shown.news += 1;
    },
  });
  return shown;
}

const event = new TextEncoder().encode('data: {"chatId":"c"}\n\n');

test('holds the stream in one visible window and moves it when that is hidden', async () => {
  const locks = createLocks();
  const [first, second] = [openWindow(locks), openWindow(locks)];
  await until(() => first.open === 1);
  first.streams[0]?.enqueue(event);
  await until(() => first.news === 1);
  assert.equal(second.open, 0);
  first.page.turn('hidden');
  await until(() => second.open === 1);
  assert.equal(first.open, 0);
  second.leave();
  first.page.turn('visible');
  await until(() => first.open === 1);
  assert.equal(second.open, 0);
  first.leave();
});

test('reopens a broken stream, also without the Web Locks API', async () => {
  const shown = openWindow(undefined);
  await until(() => shown.streams.length === 1);
  shown.streams[0]?.close();
  await until(() => shown.streams.length === 2);
  shown.streams[1]?.enqueue(event);
  await until(() => shown.news === 1);
  shown.leave();
});
