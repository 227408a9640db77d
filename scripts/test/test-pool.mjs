// Runs test files in a few processes that are reused. Node's own runner starts a process for each file, or without
// isolation loads all files into one process before the first test runs, which uses one core.
import { fork } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const reporter = join(root, 'scripts/test/test-reporter.mjs');
// Seconds that each file took in its last run. The longest files start first, so that all processes end at about the
// same time.
const timesFile = join(root, 'node_modules/.cache/test-seconds.json');
// A process is replaced before the memory that its files keep slows down later files.
const filesPerWorker = 30;
const workerMemory = 800 * 1024 * 1024;
// A process whose files have all ended and that doesn't exit within this time has a leaked handle.
const exitTimeoutMs = 60_000;

/**
 * Runs test files in `concurrency` processes, each process one file after another; a file with `isAlone(file)` gets its
 * own process. Returns `{counts, seconds, failed}`: counts and seconds per file, and the list of failed files. `print`
 * gets the lines about processes that end badly; `stdio` is where tests print.
 */
export async function runTestFiles(
  files,
  { concurrency, env, fileTimeoutMs, isAlone, stdio = 'inherit', print = console.log },
) {
  const times = readTimes();
  const queue = files.toSorted((one, two) => (times[two] ?? 3600) - (times[one] ?? 3600));
  const counts = {};
  const seconds = {};
  const failed = new Set();
  const slot = async () => {
    while (queue.length > 0) await runWorker(takeFiles);
  };
  const takeFiles = { queue, counts, seconds, failed, env, fileTimeoutMs, isAlone, stdio, print };
  await Promise.all(Array.from({ length: concurrency }, slot));
  writeTimes(Object.entries(seconds).filter(([file]) => !file.startsWith('/')));
  return { counts, seconds, failed: files.filter((file) => failed.has(file)) };
}

/** Starts one process and feeds it files from the queue; resolves when it has exited. */
function runWorker({ queue, counts, seconds, failed, env, fileTimeoutMs, isAlone, stdio, print }) {
  const worker = fork(join(root, 'scripts/test/test-worker.mjs'), {
    cwd: root,
    env,
    execArgv: [`--test-reporter=${reporter}`],
    stdio: [stdio, stdio, stdio, 'ipc'],
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
    print(`  FAIL  ${why}`);
    worker.kill('SIGKILL');
  };
  worker.on('message', ({ type, file, counts: counted, success }) => {
    clearTimeout(late);
    if (type === 'ended') {
      counts[file] = counted;
      seconds[file] = (performance.now() - startedAt) / 1000;
      if (!success || file !== running) failed.add(running ?? file);
      running = undefined;
      return;
    }
    running = next();
    startedAt = performance.now();
    if (running === undefined)
      late = setTimeout(giveUp, exitTimeoutMs, `an open handle keeps the process of ${ran.join(', ')} alive`);
    else {
      ran.push(running);
      // The file's own timeout fires first, unless the file blocks the event loop.
      late = setTimeout(giveUp, fileTimeoutMs * 1.1, `${running} does not end`);
    }
    worker.send(running === undefined ? {} : { file: running, timeout: fileTimeoutMs });
  });
  worker.once('error', reject);
  worker.once('exit', (code, signal) => {
    clearTimeout(late);
    if (running !== undefined) {
      print(`  FAIL  ${running}: its process ended with ${signal ?? `code ${code}`}`);
      failed.add(running);
    } else if (code !== 0 && !ran.some((file) => failed.has(file))) {
      print(`  FAIL  the process of ${ran.join(', ')} ended with ${signal ?? `code ${code}`}`);
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

function writeTimes(entries) {
  mkdirSync(dirname(timesFile), { recursive: true });
  writeFileSync(timesFile, JSON.stringify({ ...readTimes(), ...Object.fromEntries(entries) }));
}
