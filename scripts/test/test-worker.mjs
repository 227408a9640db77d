// Runs test files one after another in one process, so that they share the modules loaded and compiled for the first
// file. The parent process sends the files; the reporter emits `test-file-ended` when one has ended.
import { once } from 'node:events';
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';

// Child processes of tests inherit no options of this worker.
process.execArgv = [];
// A test may wait for an unreferenced handle.
process.channel.ref();

// An error outside of any test fails the running file; the parent starts a new process for the next files.
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.prependListener(event, (error) => {
    console.error(`  FAIL  ${event} while ${running} ran\n${inspect(error)}`);
    process.exit(1);
  });
}

// The outbound guard replaces the built-in fetch and the client behind it, which loads at the first call.
const builtInFetch = globalThis.fetch;
await fetch('data:,');
const dispatcherKeys = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];
const dispatchers = dispatcherKeys.map((key) => globalThis[key]);

let running;
for (;;) {
  process.send({ type: 'idle' });
  const [{ file, timeout }] = await once(process, 'message');
  if (file === undefined) break;
  running = file;
  const ended = once(process, 'test-file-ended');
  describe(file, { timeout }, () => import(pathToFileURL(file)));
  await ended;
  globalThis.fetch = builtInFetch;
  for (const [index, key] of dispatcherKeys.entries()) if (key in globalThis) globalThis[key] = dispatchers[index];
}
process.disconnect();
