// Everything: check, unit and server tests, tests that depend on SQL on the distribution's PostgreSQL as well, and the
// built product.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { openDatabase } from '../server/src/db/pool.ts';
import { startTestServer, throwAwayFolder } from '../server/test/postgres.ts';
import { build } from './build.mjs';
import { isBuilt } from './build-inputs.mjs';
import { check } from './check.mjs';
import { release } from './release.mjs';
import { architectures, NotFetched } from './release-packages.mjs';
import { run } from './run.mjs';
import { listFiles, listImports, readSource } from './source-text.mjs';
import { findPgBouncer, startPgBouncer } from './system-pgbouncer.mjs';
import { findSystemPostgres, startSystemPostgres } from './system-postgres.mjs';
import { EngineFailure, whyNoEngine, withEngine } from './test-docker.mjs';
import { runTestFiles } from './test-pool.mjs';

const root = dirname(import.meta.dirname);
const total = { passed: 0, failed: 0, skipped: 0 };
// No file should take a tenth of this; one that hangs is named instead of blocking everything.
const fileTimeoutMs = 900_000;
/** A run that takes longer than this reports what it was doing, and fails. */
const patienceMs = 2 * 3_600_000;
// They replace timers, `fetch` or the environment of their process, or measure its memory.
const aloneFiles =
  /\/(control-silence|documents-hostile-service|embedded-postgres|kubernetes-runtime|newer-schema|oracle-gemini|prometheus|reverse-proxies|unfinished-bodies)\.test\.ts$/;
// Hundreds of processes read the same sources, so each is compiled once.
const compileCache = join(root, 'node_modules/.cache/compile');
let stopped = false;
const scratch = mkdtempSync(join(tmpdir(), 'homeport-tests-'));
// Gone however this ends; a PostgreSQL whose folder is gone ends by itself.
const folders = [scratch];
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => setImmediate(process.exit, 1));

const system = findSystemPostgres();
const pgBouncer = findPgBouncer();
const files = listFiles(root);
const unitTests = files.filter((file) =>
  /^(contracts|workspace|web|server\/src|scripts)\/.*\.test\.(ts|mjs)$/.test(file),
);
const serverTests = files.filter((file) => /^server\/test\/(?!workspaces\/docker\/).*\.test\.ts$/.test(file));
const containerTests = files.filter((file) =>
  /^(server\/test\/workspaces|acceptance)\/docker\/.*\.test\.ts$/.test(file),
);
const acceptanceTests = files.filter((file) => /^acceptance\/(?!docker\/|release\/).*\.test\.ts$/.test(file));
const releaseTests = files.filter((file) => /^acceptance\/release\/.*\.test\.ts$/.test(file));
// A smaller part for the second PostgreSQL: the files that depend on SQL most.
const leansOnSql =
  /\/(accounts-se|artifacts-search|catalogue-(default|http)|chat-(answers|changes|compaction|inputs|recovery|replicas|summaries|tools)\.|conversations-|migrate|pool|usage-reports)/;

// Two lanes take the next part that is ready: most parts wait for processes, timers and pages more than they compute.
// A third one and a second browser were a tenth quicker, at three times the load.
const laneCount = 2;
const parts = [
  { name: 'check', work: checkTree },
  { name: 'build', work: buildProduct },
  { name: 'browser', work: inBrowser, needsBuild: true },
  { name: 'unit and server tests', work: onEmbedded },
  { name: 'release', work: asReleased, needsBuild: true },
  { name: 'containers', work: inContainers, needsBuild: true },
  ...(system === undefined ? [] : [{ name: `server tests on PostgreSQL ${system.version}`, work: onSystem }]),
  // Last but for what is asked for, because it keeps both processors busy by itself.
  { name: 'acceptance', work: () => nodeTest(acceptanceTests, { concurrency: 2 }), needsBuild: true },
  ...(system === undefined || pgBouncer === undefined
    ? []
    : [{ name: 'server tests through PgBouncer', work: throughPgBouncer, onRequest: true }]),
];

// `npm test -- acceptance` runs the parts whose name contains that word.
const words = process.argv.slice(2);

async function main() {
  const queue = parts.filter(({ name, onRequest }) =>
    words.length === 0 ? onRequest !== true : words.some((word) => name.includes(word)),
  );
  const built = queue.some(({ name }) => name === 'build') ? Promise.withResolvers() : undefined;
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (next.needsBuild) await built?.promise;
      // Without correct types or a built product, everything after this fails for the same reason.
      if (stopped) return;
      const passed = await runPart(next);
      if (next.name === 'build') built?.resolve();
      if (!passed && (next.name === 'check' || next.name === 'build')) stopped = true;
    }
  };
  await Promise.all(Array.from({ length: laneCount }, lane));
}

async function runPart({ name, work }) {
  console.log(`== ${name}`);
  const startedAt = performance.now();
  let passed = false;
  try {
    passed = await work();
  } catch (error) {
    total.failed += 1;
    console.log(`  FAIL  ${error.stack ?? error}`);
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`== ${name}: ${passed ? 'passed' : 'FAILED'} in ${seconds} s`);
  return passed;
}

async function checkTree() {
  const passed = await check();
  if (!passed) total.failed += 1;
  return passed;
}

async function buildProduct() {
  if (!isBuilt(root)) await build();
  const { code } = await run(process.execPath, [join(root, 'web/bundle-size.mjs')], { cwd: root });
  if (code !== 0) total.failed += 1;
  return code === 0;
}

async function onEmbedded() {
  const folder = mkdtempSync(join(throwAwayFolder(), 'homeport-tests-pg-'));
  folders.push(folder);
  const log = { debug() {}, info() {}, warn: logLine, error: logLine };
  const server = await startTestServer({ folder, log });
  try {
    return await nodeTest([...unitTests, ...serverTests], { concurrency: 2, databaseUrl: server.url });
  } finally {
    await server.stop();
  }
}

async function onSystem() {
  const server = await startSystemPostgres(system);
  try {
    const chosen = serverTests.filter((file) => leansOnSql.test(file));
    return await nodeTest(chosen, { concurrency: 2, databaseUrl: server.url });
  } finally {
    await server.stop();
  }
}

/** All that have a database, with more clients than connections to it. */
async function throughPgBouncer() {
  const server = await startSystemPostgres(system);
  // As docs/operations.md says: behind a pooler, the limits of statements belong to the role.
  await limitRole(server.url);
  const pooler = await startPgBouncer(pgBouncer, server.url);
  try {
    const chosen = serverTests.filter((file) => reaches(file, 'server/test/database.ts'));
    return await nodeTest(chosen, { concurrency: 2, databaseUrl: server.url, env: { TEST_POOLER_URL: pooler.url } });
  } finally {
    await pooler.stop();
    await server.stop();
  }
}

/** Whether a source file imports another one, directly or not. */
function reaches(from, to) {
  const seen = new Set([from]);
  for (const file of seen) {
    if (!existsSync(join(root, file))) continue;
    for (const { specifier } of listImports(readSource(root, file))) {
      if (specifier.startsWith('.')) seen.add(relative(root, join(root, dirname(file), specifier)));
    }
  }
  return seen.has(to);
}

async function limitRole(connection) {
  const log = { debug() {}, info() {}, warn: logLine, error: logLine };
  const db = openDatabase({ connection, log });
  await db.pool.query(`alter role homeport set statement_timeout = '10s'`);
  await db.pool.query(`alter role homeport set idle_in_transaction_session_timeout = '20s'`);
  await db.pool.query('alter role homeport set jit = off');
  await db.close();
}

/** Needs an engine; if none can be started, it says why. */
async function inContainers() {
  const why = whyNoEngine();
  if (why !== undefined) return skipContainers(why);
  try {
    const released = await madeRelease().catch(() => undefined);
    const env = released === undefined ? {} : { HOMEPORT_RELEASE: released };
    return await withEngine((engine) => nodeTest(containerTests, { concurrency: 1, env: { ...engine, ...env } }));
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error;
    return skipContainers(`no engine can be started here:\n${error.message}`);
  }
}

/** Every kind of release is installed from its own file and used. */
async function asReleased() {
  try {
    return await nodeTest(releaseTests, { concurrency: 1, env: { HOMEPORT_RELEASE: await madeRelease() } });
  } catch (error) {
    if (!(error instanceof NotFetched) || process.env.REQUIRE_RELEASE === '1') throw error;
    console.log(`  skipped: ${error.message}`);
    total.skipped += releaseTests.length;
    return true;
  }
}

let making;

/** The folder with the release for this machine, made once. */
function madeRelease() {
  const out = join(scratch, 'release');
  const arch = Object.entries(architectures).find(([, cpu]) => cpu === process.arch)?.[0];
  making ??= release({ out, only: [arch] }).then(() => out);
  return making;
}

function skipContainers(why) {
  console.log(`  skipped: ${why}`);
  total.skipped += containerTests.length;
  return true;
}

async function nodeTest(chosen, { concurrency, databaseUrl, env: own = {} }) {
  const env = testEnvironment({ TEST_DATABASE_URL: databaseUrl ?? '', ...own });
  const { counts, failed } = await runTestFiles(chosen, { concurrency, env, fileTimeoutMs, isAlone });
  return addCounts(sumOf(counts), failed.length);
}

/** Those that change what all of their process share, and those whose helpers clean up at the end of their process. */
function isAlone(file) {
  if (/^(acceptance|server\/test\/workspaces\/docker)\//.test(file) || aloneFiles.test(file)) return true;
  return readFileSync(join(root, file), 'utf8').includes("'./process.ts'");
}

function sumOf(counts) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped } of Object.values(counts)) {
    sum.passed += passed;
    sum.failed += failed;
    sum.skipped += skipped;
  }
  return sum;
}

async function inBrowser() {
  const specs = files.filter((file) => /^acceptance\/browser\/.*\.spec\.ts$/.test(file));
  const resultsFile = join(scratch, 'playwright.json');
  const cli = join(root, 'node_modules/@playwright/test/cli.js');
  const options = ['-c', 'acceptance/playwright.config.ts', '--reporter=list,json', '--output=.pw/out'];
  const args = [cli, 'test', ...options, ...specs];
  const env = testEnvironment({ PLAYWRIGHT_JSON_OUTPUT_FILE: resultsFile });
  const { code } = await run(process.execPath, args, { cwd: root, env });
  const stats = existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')).stats : undefined;
  const counts = stats && { passed: stats.expected, failed: stats.unexpected, skipped: stats.skipped };
  return addCounts(counts, code);
}

function testEnvironment(extra) {
  const { HTTP_PROXY, HTTPS_PROXY, http_proxy, https_proxy, NODE_OPTIONS, ...rest } = process.env;
  return {
    ...rest,
    NODE_COMPILE_CACHE: compileCache,
    ...extra,
  };
}

/** A run that ended badly without a failed test still counts as one failure. */
function addCounts(counts, code) {
  total.passed += counts?.passed ?? 0;
  total.skipped += counts?.skipped ?? 0;
  total.failed += counts?.failed || (code === 0 ? 0 : 1);
  return code === 0 && (counts?.failed ?? 0) === 0;
}

function logLine(details, message) {
  console.log(`  ${message} ${JSON.stringify(details)}`);
}

/** Which test files are still running: one of them hangs. */
function giveUp() {
  const processes = execFileSync('ps', ['-eo', 'etimes,args'], { encoding: 'utf8' }).split('\n');
  const running = processes.filter((line) => line.includes(root) && /\.(test|spec)\.(ts|mjs)/.test(line));
  console.log(`\nnot done after ${patienceMs / 60_000} minutes; still running, with their seconds:`);
  for (const line of running)
    console.log(`  ${line.trim().replace(/^(\d+).* (\S+\.(?:test|spec)\.(?:ts|mjs)).*$/, '$1 $2')}`);
  process.exit(1);
}

const startedAt = performance.now();
setTimeout(giveUp, patienceMs).unref();
await main();
console.log(`\nall parts: ${Math.round((performance.now() - startedAt) / 1000)} s`);
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
process.exitCode = total.failed === 0 ? 0 : 1;
