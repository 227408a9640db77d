import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Sandbox } from '../../src/sandbox/sandbox.ts';

/** A folder of this process for the files that are passed to parsing processes. */
export const parsingFolder = join(mkdtempSync(join(tmpdir(), 'homeport-parsing-')), 'parsing');

/** Parsing processes, outside of a service. The caller closes them. */
export function openTestSandbox(): Sandbox {
  return new Sandbox(parsingFolder, pino({ level: 'silent' }));
}
