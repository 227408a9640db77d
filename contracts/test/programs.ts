import { spawnSync } from 'node:child_process';

/** The reason to skip tests that need this program of the system, for node:test's `skip`; false if it is installed. */
export function lacks(program: string): string | false {
  return spawnSync(program, ['--version']).error === undefined ? false : `${program} is not installed`;
}
