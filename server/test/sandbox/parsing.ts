import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Sandbox } from '../../src/sandbox/sandbox.ts';

/** A folder of this process for the files that are lent to processes that parse. */
export const parsingFolder = join(mkdtempSync(join(tmpdir(), 'homeport-parsing-')), 'parsing');

/** Processes that parse, outside of a service. The caller closes it. */
export function openTestSandbox(): Sandbox {
  return new Sandbox(parsingFolder, pino({ level: 'silent' }));
}
