import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { until } from '../../../contracts/test/until.ts';
import { documentBounds } from '../../src/documents/document.ts';
import { ParseFailure, ParserChild } from '../../src/sandbox/child.ts';
import { findProgram, type Wall } from '../../src/sandbox/launch.ts';
import { makeDocx, paragraph } from '../documents/document-makers.ts';
import { makeEndlessPdf } from './hostile/endless-pdf.ts';
import { openTestSandbox, parsingFolder } from './parsing.ts';

/** The parsing processes: their environment, their ends, and that none remains. */

const limits = { heapMb: 256, memoryBytes: 1024 ** 3, stepMs: 30_000, cpuMs: 30_000 };
const patient = new AbortController().signal;
const small = { bytes: makeDocx(paragraph('x')), bounds: documentBounds };
const sandbox = openTestSandbox();
after(() => sandbox.close());

const endless = () => makeEndlessPdf(12);
const slow = () => ({ bytes: endless(), bounds: documentBounds });

const isLinux = process.platform === 'linux';
const walls: Wall[] = isLinux && findProgram('bwrap') !== undefined ? ['bubblewrap', 'none'] : ['none'];

for (const wall of walls) {
  test(`a parsing process has no secret in its environment, and ends with its pipe (${wall})`, {
    skip: !isLinux,
  }, async (t) => {
    const folder = join(parsingFolder, `wall-${wall}`);
    const child = await ParserChild.start({ wall, heapMb: 256, folder }).catch((error: unknown) => {
      if (wall === 'none') throw error;
      return undefined;
    });
    if (child === undefined) return t.skip('bubblewrap does not work here');
    const pid = child.pid ?? assert.fail('its number is not known');
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
    const names = environment.map((entry) => entry.split('=')[0]).filter((name) => name !== 'PWD');
    assert.deepEqual(names, ['TZ']);
    if (wall === 'bubblewrap') {
      const interfaces = readFileSync(`/proc/${pid}/net/dev`, 'utf8').split('\n').slice(2).filter(Boolean);
      assert.deepEqual(
        interfaces.map((line) => line.trim().split(':')[0]),
        ['lo'],
      );
      assert.equal(existsSync(`/proc/${pid}/root/etc/passwd`), false);
    }
    child.kill();
    await child.ended;
    assert.equal(existsSync(`/proc/${pid}`), false);
    assert.equal(existsSync(folder), false);
  });
}

test('a job that is canceled, takes too long or too much memory ends its process, and the next one is served', async () => {
  const canceled = new AbortController();
  const job = sandbox.open('document', slow(), { limits, signal: canceled.signal });
  canceled.abort(new Error('nobody waits any more'));
  await assert.rejects(job, /nobody waits any more/);
  const failsBy = async (changes: Partial<typeof limits>, reason: string) =>
    assert.rejects(
      sandbox.open('document', slow(), { limits: { ...limits, ...changes }, signal: patient }),
      (error) => error instanceof ParseFailure && error.reason === reason,
    );
  await failsBy({ stepMs: 200 }, 'time');
  if (isLinux) await failsBy({ cpuMs: 200 }, 'time');
  if (isLinux) await failsBy({ memoryBytes: 1024 ** 2 }, 'memory');
  const last = await sandbox.open('document', small, { limits, signal: patient });
  await last.close();
  await until('the others to be gone', () => sandbox.size === 1);
});

test('reuses a process after a job that ended well', async () => {
  const pids = new Set<number | undefined>();
  for (let count = 0; count < 5; count += 1) {
    const job = await sandbox.open('document', small, { limits, signal: patient });
    pids.add(job.pid);
    await job.close();
  }
  assert.equal(pids.size, 1);
});

test('no process remains when the service is killed during a job', { skip: !isLinux }, async () => {
  const script = `
    import { openTestSandbox } from ${JSON.stringify(join(import.meta.dirname, 'parsing.ts'))};
    const sandbox = openTestSandbox();
    const limits = ${JSON.stringify(limits)};
    const signal = new AbortController().signal;
    const job = await sandbox.open('document', { bytes: Buffer.from('${small.bytes.toString('base64')}', 'base64'), bounds: ${JSON.stringify(documentBounds)} }, { limits, signal });
    const { pid } = job;
    await job.close();
    void sandbox.open('document', { bytes: Buffer.from('${endless().toString('base64')}', 'base64'), bounds: ${JSON.stringify(documentBounds)} }, { limits, signal });
    setImmediate(() => process.stdout.write(String(pid) + '\\n'));
  `;
  const service = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(service.stdout, 'data');
  const pid = Number(String(line));
  assert.ok(isRunning(pid));
  service.kill('SIGKILL');
  await until('it to be gone', () => !isRunning(pid));
});

/** A process that has ended stays listed as a zombie where the first process of a container collects none. */
function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
