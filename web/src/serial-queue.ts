/** Serial queue of async tasks: each starts after the one before has settled, even if that failed. */
export type SerialQueue = {
  run<T>(work: () => Promise<T>): Promise<T>;
  /** True if no task is running or waiting. */
  readonly isIdle: boolean;
};

/**
 * For changes of one thing by one click each: two requests at once can arrive in the other order, and the older stay.
 */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  let open = 0;
  return {
    run(work) {
      open += 1;
      const done = last.then(work).finally(() => {
        open -= 1;
      });
      last = done.catch(() => undefined);
      return done;
    },
    get isIdle() {
      return open === 0;
    },
  };
}
