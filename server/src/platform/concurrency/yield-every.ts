import { setImmediate } from 'node:timers/promises';

const charactersAtOnce = 500_000;

/** Lets other work have its turn whenever much text was gone through. */
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
