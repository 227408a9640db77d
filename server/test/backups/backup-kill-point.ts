import { promises } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Preloaded by the command `backup`. Kills the process as `kill -9` does, just before a step on the unfinished file:
 * KILL_AT is `write:40` for the fortieth write, `sync:1`, `link:1` or `rm:1`. Prints the number of writes at the end.
 */

const isPartial = (path: unknown): boolean => typeof path === 'string' && path.includes('.partial-');
const seen = new Map<string, number>();

function step(name: string): void {
  const count = (seen.get(name) ?? 0) + 1;
  seen.set(name, count);
  if (process.env.KILL_AT === `${name}:${count}`) process.kill(process.pid, 'SIGKILL');
}

function before<Given extends unknown[], Result>(name: string, act: (...given: Given) => Result) {
  return (...given: Given): Result => {
    step(name);
    return act(...given);
  };
}

function watched(handle: FileHandle): FileHandle {
  const { write, sync } = handle;
  return Object.assign(handle, {
    write: before('write', write.bind(handle)),
    sync: before('sync', sync.bind(handle)),
  });
}

const { open, link, rm } = promises;
Object.assign(promises, {
  open: async (...given: Parameters<typeof open>) => {
    const handle = await open(...given);
    return isPartial(given[0]) ? watched(handle) : handle;
  },
  link: (...given: Parameters<typeof link>) => {
    if (isPartial(given[0])) step('link');
    return link(...given);
  },
  rm: (...given: Parameters<typeof rm>) => {
    if (isPartial(given[0])) step('rm');
    return rm(...given);
  },
});
syncBuiltinESMExports();
process.on('exit', () => console.error(`writes: ${seen.get('write') ?? 0}`));
