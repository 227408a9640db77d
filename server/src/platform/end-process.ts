import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Ends the process at once. `process.exit` waits for the threads that compile, and one of them may be waiting for a
 * garbage collection that nobody will make any more: for ever (nodejs/node#54918). So it is made first.
 */
export function endProcess(exitCode: number): never {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  process.exit(exitCode);
}
