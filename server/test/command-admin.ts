import { execFile } from 'node:child_process';
import { join } from 'node:path';

const authSecret = 'a session secret of more than 32 bytes for tests';

/** The exit of an operator's command. */
export type Ended = { code: number; output: string };

/** The output of --json; progress notes of a slow machine are on the other stream. */
export function resultOf({ output }: Ended) {
  return JSON.parse(output.split('\n', 1)[0] ?? '');
}

/** `npm run admin` from its sources, with these settings. */
export function admin(args: string[], environment: Record<string, string>): Promise<Ended> {
  const file = join(import.meta.dirname, '../src/admin.ts');
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, AUTH_SECRET: authSecret, ...environment };
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...args], { env, timeout: 300_000 }, (error, stdout, stderr) => {
      resolve({
        code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1,
        output: stdout + stderr,
      });
    });
  });
}
