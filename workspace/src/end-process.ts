/**
 * Ends the process at once. `process.exit` waits for the compiler threads, and one of them can wait forever for a
 * garbage collection that no longer runs (nodejs/node#54918). So a collection runs first.
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
