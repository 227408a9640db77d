import { setImmediate } from 'node:timers/promises';

const charactersAtOnce = 500_000;

/** Yields to the event loop every 500,000 characters. */
export function yieldEvery() {
  let gone = 0;
  return {
    async after(characters: number): Promise<void> {
      gone += characters;
      if (gone < charactersAtOnce) return;
      gone = 0;
      await setImmediate();
    },
  };
}
