import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';

/** An uncaught failure, in a process of its own. */
async function run(failure: string): Promise<{ code: unknown; lines: string[] }> {
  const script = `
    import { PassThrough } from 'node:stream';
    import { createLogger } from './src/platform/logger.ts';
    import { installLastResort } from './src/platform/uncaught-errors.ts';
    installLastResort(createLogger('info'));
    setImmediate(() => {
      setImmediate(() => console.log('goes on'));
      ${failure}
    });
  `;
  const args = ['--input-type=module-typescript', '--eval', script];
  return new Promise((resolve) => {
    const options = { cwd: new URL('../..', import.meta.url).pathname };
    execFile(process.execPath, args, options, (error, stdout) =>
      resolve({ code: error?.code ?? 0, lines: stdout.trim().split('\n') }),
    );
  });
}

test('logs an unhandled stream error and continues the process', async () => {
  const failures = [
    `new PassThrough().destroy(new DOMException('This operation was aborted', 'AbortError'));`,
    `new PassThrough().destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));`,
    `const stream = new PassThrough(); stream.end(); stream.write('late');`,
    `Promise.reject(new TypeError('nobody waits'));`,
  ];
  for (const failure of failures) {
    const { code, lines } = await run(failure);
    assert.deepEqual([code, lines.length, lines.includes('goes on')], [0, 2, true], failure);
    assert.equal(JSON.parse(lines.find((line) => line !== 'goes on') ?? '').level, 50);
  }
});

test('logs any other uncaught failure and ends the process', async () => {
  const { code, lines } = await run(`throw new TypeError('half done');`);
  assert.deepEqual([code, lines.length], [1, 1]);
  const { level, cause } = JSON.parse(lines[0] ?? '');
  assert.deepEqual([level, cause.message], [60, 'half done']);
});
