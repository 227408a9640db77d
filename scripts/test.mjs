// `npm test`: check, build, unit and server tests, the built product over HTTP, and a short run in the browser.
// `npm run test:all`: everything. `npm test -- changed [commit]`: the tests that reach what changed since a commit.
// `npm test -- acceptance`: the parts whose names contain that word. Options: --list prints the files of each part and
// runs nothing; --slowest prints the files that took longest.
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { baseCommit, changedFiles, chooseTests } from './test/test-changed.mjs';
import { describeMissing, findMissing } from './test/test-needs.mjs';
import { listParts } from './test-parts.mjs';

const root = dirname(import.meta.dirname);
const total = { passed: 0, failed: 0, skipped: 0 };
/** A run that takes longer than this prints the files that still run, and fails. */
const runTimeoutMs = 2 * 3_600_000;
// Two lanes run parts side by side: most parts wait for processes, timers and pages more than they compute. A third lane
// and a second browser were a tenth faster, at three times the load.
const laneCount = 2;
/** `TEST_MINUTES`: a run begins no part after that long, so that a slow machine of CI ends in time. */
const beginUntilMs = process.env.TEST_MINUTES === undefined ? Infinity : Number(process.env.TEST_MINUTES) * 60_000;
const slowestCount = 25;
const seconds = {};
let stopped = false;
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => setImmediate(process.exit, 1));

async function main() {
  const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
  const options = process.argv.slice(2).filter((word) => word.startsWith('--'));
  const unknown = options.filter((option) => !['--list', '--slowest'].includes(option));
  if (unknown.length > 0) throw new Error(`unknown option ${unknown.join(', ')}`);
  const parts = withBuild(chooseParts(words));
  if (options.includes('--list')) return listFilesOf(parts);
  const isEverything = parts.some(({ group }) => group !== 'test');
  for (const line of describeMissing(findMissing({ all: isEverything }))) console.log(line);
  setTimeout(giveUp, runTimeoutMs).unref();
  const startedAt = performance.now();
  await runInLanes(parts);
  if (options.includes('--slowest')) printSlowest();
  console.log(`\nall parts: ${Math.round((performance.now() - startedAt) / 1000)} s`);
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  process.exitCode = total.failed === 0 ? 0 : 1;
}

/** The parts that the words of the command line name. */
function chooseParts(words) {
  const parts = listParts();
  if (words.length === 0) return parts.filter(({ group }) => group === 'test');
  if (words[0] === 'all') return parts.filter(({ group }) => group !== 'request');
  if (words[0] === 'changed') return reduceToChanged(parts, words[1]);
  const named = parts.filter(({ name }) => words.some((word) => name.includes(word)));
  if (named.length > 0) return named;
  throw new Error(`no part has such a name; there are: ${parts.map(({ name }) => name).join(', ')}`);
}

/** Adds the build to parts that test the built product; it takes no time if nothing changed. */
function withBuild(parts) {
  if (!parts.some(({ needsBuild }) => needsBuild) || parts.some(({ name }) => name === 'build')) return parts;
  return [listParts().find(({ name }) => name === 'build'), ...parts];
}

/** Parts with only the files that reach a changed file; the check always runs. Prints the choice with its reasons. */
function reduceToChanged(parts, commit) {
  const base = baseCommit(root, commit);
  const changed = changedFiles(root, base);
  const candidates = parts.filter(({ group, repeats }) => group !== 'request' && repeats !== true);
  const files = candidates.flatMap((part) => part.files);
  const { reasons, product, all } = chooseTests(root, files, changed);
  console.log(`${changed.length} files changed since ${base.slice(0, 12)}`);
  if (all.length > 0) console.log(`All of npm test runs, because ${all.join(', ')} changed.`);
  if (product.length > 0) console.log(`The built product is tested, because no test imports ${product.join(', ')}.`);
  for (const [test, reason] of reasons) console.log(`  ${test}: ${reason === test ? 'changed' : `reaches ${reason}`}`);
  return candidates.flatMap((part) => {
    if (part.name === 'check') return [part];
    const isWhole = part.group === 'test' && (all.length > 0 || (product.length > 0 && part.needsBuild));
    if (isWhole) return [part];
    const chosen = part.files.filter((file) => reasons.has(file));
    return chosen.length === 0 ? [] : [{ ...part, files: chosen }];
  });
}

function listFilesOf(parts) {
  for (const { name, files } of parts) {
    console.log(`== ${name}: ${files.length} files`);
    for (const file of files) console.log(`  ${file}`);
  }
}

async function runInLanes(parts) {
  const queue = [...parts];
  const built = Promise.withResolvers();
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (next.needsBuild) await built.promise;
      // With wrong types or without a built product, all later parts would fail for the same reason.
      if (stopped) return;
      if (performance.now() > beginUntilMs) {
        console.log(`== ${next.name}: skipped, because ${process.env.TEST_MINUTES} minutes (TEST_MINUTES) are over`);
        total.skipped += next.files.length;
        if (next.name === 'build') built.resolve();
        continue;
      }
      const passed = await runPart(next);
      if (!passed && (next.name === 'check' || next.name === 'build')) stopped = true;
      if (next.name === 'build') built.resolve();
    }
  };
  await Promise.all(Array.from({ length: laneCount }, lane));
}

async function runPart({ name, files, run }) {
  console.log(`== ${name}`);
  const startedAt = performance.now();
  let counts = { passed: 0, failed: 1, skipped: 0 };
  try {
    counts = await run(files);
  } catch (error) {
    console.log(`  FAIL  ${error.stack ?? error}`);
  }
  for (const key of Object.keys(total)) total[key] += counts[key];
  Object.assign(seconds, counts.seconds);
  const took = ((performance.now() - startedAt) / 1000).toFixed(1);
  const result = counts.failed === 0 ? 'passed' : 'FAILED';
  console.log(`== ${name}: ${result} in ${took} s (${describe(counts)})`);
  return counts.failed === 0;
}

function describe({ passed, failed, skipped }) {
  const words = [`${passed} passed`, `${failed} failed`, `${skipped} skipped`];
  const shown = words.filter((text) => !text.startsWith('0 '));
  return shown.length === 0 ? 'no tests' : shown.join(', ');
}

function printSlowest() {
  console.log('\nslowest files, with their seconds beside all others:');
  const slowest = Object.entries(seconds).sort(([, one], [, two]) => two - one);
  for (const [file, took] of slowest.slice(0, slowestCount)) console.log(`  ${took.toFixed(1).padStart(6)}  ${file}`);
}

/** Ends a run that hangs and prints the test files that are still running. */
function giveUp() {
  const processes = execFileSync('ps', ['-eo', 'etimes,args'], { encoding: 'utf8' }).split('\n');
  const running = processes.filter((line) => line.includes(root) && /\.(test|spec)\.(ts|mjs)/.test(line));
  console.log(`\nnot done after ${runTimeoutMs / 60_000} minutes; still running, with their seconds:`);
  for (const line of running)
    console.log(`  ${line.trim().replace(/^(\d+).* (\S+\.(?:test|spec)\.(?:ts|mjs)).*$/, '$1 $2')}`);
  process.exit(1);
}

try {
  await main();
} catch (error) {
  console.error(`npm test: ${error.message}`);
  process.exitCode = 2;
}
