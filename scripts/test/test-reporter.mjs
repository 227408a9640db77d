// Reporter for node --test and for test-worker.mjs: prints one line per failed test with its reason and one per file.
// In a worker it also sends the counts of each file to the parent process.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { inspect } from 'node:util';

const isWorker = process.argv[1]?.endsWith('/test-worker.mjs');

export default async function* report(source) {
  let counts = noCounts();
  let cpu = usedCpu();
  for await (const { type, data } of source) {
    if (type === 'test:fail' && (data.details?.type !== 'suite' || isOwnFault(data))) yield failure(data);
    else if (type === 'test:stdout' || type === 'test:stderr') yield data.message;
    else if (type === 'test:diagnostic' && (data.level === 'error' || isLate(data))) yield `  ${data.message}\n`;
    else if (type === 'test:summary' && data.file !== undefined && !isWorker) {
      yield fileLine(data.file, data.duration_ms, data.counts.tests, data.success);
    }
    if (!isWorker || (type !== 'test:pass' && type !== 'test:fail')) continue;
    count(counts, type, data);
    if (data.nesting > 0 || data.details?.type !== 'suite') continue;
    const success = counts.failed === 0;
    const now = usedCpu();
    const used = { own: now.own - cpu.own, children: now.children - cpu.children };
    cpu = now;
    yield fileLine(data.name, data.details.duration_ms, counts.tests, success, used);
    process.send?.({ type: 'ended', file: data.name, counts, success });
    process.emit('test-file-ended');
    counts = noCounts();
  }
}

function noCounts() {
  return { tests: 0, passed: 0, failed: 0, skipped: 0 };
}

function count(counts, type, data) {
  if (data.details?.type === 'suite') {
    if (type === 'test:fail' && isOwnFault(data)) counts.failed += 1;
    return;
  }
  counts.tests += 1;
  if (data.skip !== undefined || data.todo !== undefined) counts.skipped += 1;
  else if (type === 'test:fail') counts.failed += 1;
  else counts.passed += 1;
}

/** True for a suite that failed itself: its file could not be loaded or one of its hooks threw. */
function isOwnFault({ details }) {
  return details?.error?.failureType !== 'subtestsFailed';
}

/** Node reports an error thrown after the end of a test only as a diagnostic message. */
function isLate({ message }) {
  return message.includes('asynchronous activity after the test ended');
}

function failure({ name, file, line, details }) {
  const error = details?.error?.cause ?? details?.error;
  const ended = details?.error?.exitCode === undefined ? '' : ending(details.error);
  const reason = (error instanceof Error ? (error.stack ?? error.message) : inspect(error)) + ended;
  const indented = reason.split('\n').map((text) => `        ${text}`);
  return `  FAIL  ${name} (${place(file)}:${line})\n${indented.join('\n')}\n`;
}

function ending({ exitCode, signal }) {
  return `: the process ended with ${signal ?? `code ${exitCode}`}`;
}

/** Seconds of CPU time of this process (`own`) and of its ended child processes (`children`, on Linux). */
function usedCpu() {
  const { user, system } = process.cpuUsage();
  let children = 0;
  if (process.platform === 'linux') {
    const [, numbers = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ');
    const [, , , , , , , , , , , , , childrenUser, childrenSystem] = numbers.split(' ').map(Number);
    // In hundredths of a second.
    children = (childrenUser + childrenSystem) / 100;
  }
  return { own: (user + system) / 1e6, children };
}

/** The summary line of a file; `cpu` is the difference of two `usedCpu()` results, if measured. */
function fileLine(file, milliseconds, tests, success, cpu) {
  const seconds = `${(milliseconds / 1000).toFixed(1)} s${cpu === undefined ? '' : `, ${cpu.own.toFixed(1)} + ${cpu.children.toFixed(1)} s of CPU`}`;
  return `  ${success ? 'ok  ' : 'FAIL'}  ${place(file)} (${tests} tests, ${seconds})\n`;
}

function place(file) {
  return file === undefined ? '' : relative(process.cwd(), file);
}
