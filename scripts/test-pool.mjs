import { fork } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = dirname(import.meta.dirname);
const reporter = join(root, 'scripts/test-reporter.mjs');
// How long each file took when it last ran: those that take long come first, so that no process ends long after the
// others.
const timesFile = join(root, 'node_modules/.cache/test-seconds.json');
// A process is replaced before what its files left behind weighs on those that follow.
const filesPerWorker = 30;
const workerMemory = 800 * 1024 * 1024;
// What is still open in a process whose files have all ended holds it no longer than this.
const exitPatienceMs = 60_000;

/**
 * Runs test files in `concurrency` processes, each one file after another; those that `isAlone` names get one of their
 * own. Gives the counts of each file and which failed.
 */
export async function runTestFiles(files, { concurrency, env, fileTimeoutMs, isAlone }) {
  const times = readTimes();
  const queue = files.toSorted((one, two) => (times[two] ?? 3600) - (times[one] ?? 3600));
  const counts = {};
  const failed = new Set();
  const slot = async () => {
    while (queue.length > 0) await runWorker(takeFiles);
  };
  const takeFiles = { queue, counts, failed, times, env, fileTimeoutMs, isAlone };
  await Promise.all(Array.from({ length: concurrency }, slot));
  writeTimes(times);
  return { counts, failed: files.filter((file) => failed.has(file)) };
}

/** One process, until no file is left for it. */
function runWorker({ queue, counts, failed, times, env, fileTimeoutMs, isAlone }) {
  const worker = fork(join(root, 'scripts/test-worker.mjs'), {
    cwd: root,
    env,
    execArgv: [`--test-reporter=${reporter}`],
  });
  const { promise, resolve, reject } = Promise.withResolvers();
  const ran = [];
  let running;
  let startedAt;
  let late;
  const next = () => {
    if (ran.some(isAlone) || ran.length >= filesPerWorker) return undefined;
    if (ran.length > 0 && residentBytes(worker.pid) > workerMemory) return undefined;
    const at = ran.length === 0 ? 0 : queue.findIndex((file) => !isAlone(file));
    return at === -1 ? undefined : queue.splice(at, 1)[0];
  };
  const giveUp = (why) => {
    console.log(`  FAIL  ${why}`);
    worker.kill('SIGKILL');
  };
  worker.on('message', ({ type, file, counts: counted, success }) => {
    clearTimeout(late);
    if (type === 'ended') {
      counts[file] = counted;
      times[file] = (performance.now() - startedAt) / 1000;
      if (!success || file !== running) failed.add(running ?? file);
      running = undefined;
      return;
    }
    running = next();
    startedAt = performance.now();
    if (running === undefined)
      late = setTimeout(giveUp, exitPatienceMs, `something holds the process of ${ran.join(', ')}`);
    else {
      ran.push(running);
      // Its own time limit ends it, unless it blocks its process.
      late = setTimeout(giveUp, fileTimeoutMs * 1.1, `${running} does not end`);
    }
    worker.send(running === undefined ? {} : { file: running, timeout: fileTimeoutMs });
  });
  worker.once('error', reject);
  worker.once('exit', (code, signal) => {
    clearTimeout(late);
    if (running !== undefined) {
      console.log(`  FAIL  ${running}: its process ended with ${signal ?? `code ${code}`}`);
      failed.add(running);
    } else if (code !== 0 && !ran.some((file) => failed.has(file))) {
      console.log(`  FAIL  the process of ${ran.join(', ')} ended with ${signal ?? `code ${code}`}`);
      for (const file of ran) failed.add(file);
    }
    resolve();
  });
  return promise;
}

function residentBytes(pid) {
  try {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1024;
  } catch {
    return 0;
  }
}

function readTimes() {
  return existsSync(timesFile) ? JSON.parse(readFileSync(timesFile, 'utf8')) : {};
}

function writeTimes(times) {
  mkdirSync(dirname(timesFile), { recursive: true });
  writeFileSync(timesFile, JSON.stringify({ ...readTimes(), ...times }));
}
