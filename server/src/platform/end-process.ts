import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Ends the process at once. `process.exit` waits for the compiler threads, and one of them can wait forever for a
 * garbage collection that the exiting main thread no longer runs (nodejs/node#54918). So this function runs it first.
 */
export function endProcess(exitCode: number): never {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  process.exit(exitCode);
}
