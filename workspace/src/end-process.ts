/**
 * Ends the process at once. `process.exit` waits for the threads that compile, and one of them may be waiting for a
 * garbage collection that nobody will make any more: for ever (nodejs/node#54918). So it is made first.
 */
export function endProcess(exitCode: number): never {
  collectGarbage();
  process.exit(exitCode);
}

/** A full garbage collection that gives pages back: a start leaves some megabytes behind. */
export function collectGarbage(): void {
  // Loaded here, because they take memory themselves.
  process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc');
  process.getBuiltinModule('node:vm').runInNewContext('gc')({
    type: 'major',
    execution: 'sync',
    flavor: 'last-resort',
  });
}
