// Runs test files one after another in one process, so that all of them share what was loaded and compiled for the
// first. Its parent sends the files; the reporter tells when one has ended, and how.
import asyncHooks from 'node:async_hooks';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';

// Node's test runner follows every promise to know which test made it: a third of all processor time. It needs that
// while a file declares its tests, not while they run.
const { createHook } = asyncHooks;
let following;
asyncHooks.createHook = (callbacks) => {
  following = createHook(callbacks);
  asyncHooks.createHook = createHook;
  return following;
};
const { describe } = await import('node:test');

// What a test starts gets no options of ours.
process.execArgv = [];
// A test may wait for what does not hold its process by itself.
process.channel.ref();

// Whose it is, nobody followed: the file that runs has failed, and the next ones get a new process.
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.prependListener(event, (error) => {
    console.error(`  FAIL  ${event} while ${running} ran\n${inspect(error)}`);
    process.exit(1);
  });
}

// The client behind the built-in fetch, which our guard may take the place of; loaded at the first call.
await fetch('data:,');
const places = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];
const clients = places.map((place) => globalThis[place]);

let running;
for (;;) {
  process.send({ type: 'idle' });
  const [{ file, timeout }] = await once(process, 'message');
  if (file === undefined) break;
  running = file;
  const ended = once(process, 'test-file-ended');
  following?.enable();
  describe(file, { timeout }, async () => {
    try {
      await import(pathToFileURL(file));
    } finally {
      following.disable();
    }
  });
  await ended;
  for (const [index, place] of places.entries()) if (place in globalThis) globalThis[place] = clients[index];
}
process.disconnect();
