// The parts of a test run: names, files, and how to run them. scripts/test.mjs chooses parts and adds up their counts.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openDatabase } from '../server/src/db/pool.ts';
import { startTestServer, throwAwayFolder } from '../server/test/postgres.ts';
import { build } from './build.mjs';
import { isBuilt } from './build-inputs.mjs';
import { dependencyGraph, includesFile, reachedFrom } from './check/import-graph.mjs';
import { check } from './check.mjs';
import { architectures, NotFetched } from './release/release-packages.mjs';
import { release } from './release.mjs';
import { run } from './run.mjs';
import { listFiles } from './source-text.mjs';
import { findPgBouncer, startPgBouncer } from './test/system-pgbouncer.mjs';
import { findSystemPostgres, startSystemPostgres } from './test/system-postgres.mjs';
import { EngineFailure, whyNoEngine, withEngine } from './test/test-docker.mjs';
import { countDeclared, dependsOnSql, isAlone, sortTestFiles } from './test/test-files.mjs';
import { hasBrowser } from './test/test-needs.mjs';
import { runTestFiles } from './test/test-pool.mjs';

const root = dirname(import.meta.dirname);
// Ten times the duration of the slowest file; a file that hangs is named instead of blocking the run.
const fileTimeoutMs = 900_000;
// Hundreds of processes read the same sources, so each source is compiled once.
const compileCache = join(root, 'node_modules/.cache/compile');
/** The tag of the browser tests that `npm test` runs. */
const smoke = '@smoke';
const scratch = mkdtempSync(join(tmpdir(), 'homeport-tests-'));
// Removed at every kind of exit; an embedded PostgreSQL stops by itself when its folder is gone.
const folders = [scratch];
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/**
 * All parts in the order in which they start: `{name, group, files, run(files), needsBuild}`. `group` is `test` for the
 * parts of `npm test`, `all` for the others of `npm run test:all`, `request` for those that run only when named; a part
 * that `repeats` runs files of other parts. `run` returns `{passed, failed, skipped, seconds}`; `seconds` has the duration of each file, where it is measured.
 */
export function listParts() {
  const { unit, server, long, http, faults, release: releases, containers, browser } = sortTestFiles(root);
  const withSql = [...server, ...long].filter(dependsOnSql);
  const system = findSystemPostgres();
  const onSystem = `server tests on PostgreSQL ${system?.version ?? 'of the distribution'}`;
  const smokeSpecs = browser.filter((file) => readFileSync(join(root, file), 'utf8').includes(smoke));
  const inBrowser =
    (...options) =>
    (files) =>
      runBrowser(files, options);
  const inTwoProcesses = (files) => runNode(files, { concurrency: 2 });
  const parts = [
    { name: 'check', group: 'test', files: [], run: check },
    { name: 'build', group: 'test', files: [], run: buildProduct },
    { name: 'unit and server tests', group: 'test', files: [...unit, ...server], run: runOnEmbedded },
    { name: 'acceptance over HTTP', group: 'test', files: http, run: inTwoProcesses, needsBuild: true },
    { name: 'browser smoke', group: 'test', files: smokeSpecs, run: inBrowser('--grep', smoke), needsBuild: true },
    { name: 'browser', group: 'all', files: browser, run: inBrowser('--grep-invert', smoke), needsBuild: true },
    { name: 'long server tests', group: 'all', files: long, run: runOnEmbedded },
    { name: 'release', group: 'all', files: releases, run: runReleased, needsBuild: true },
    { name: 'containers', group: 'all', files: containers, run: runInContainers, needsBuild: true },
    { name: onSystem, group: 'all', files: withSql, repeats: true, run: (files) => runOnSystem(files, system) },
    // Last, because it keeps two cores busy by itself.
    { name: 'acceptance under faults', group: 'all', files: faults, run: inTwoProcesses, needsBuild: true },
    {
      name: 'server tests through PgBouncer',
      group: 'request',
      files: reaching([...server, ...long], 'database.ts'),
      run: (files) => runThroughPgBouncer(files, system),
    },
  ];
  return parts.filter(({ name, files }) => files.length > 0 || name === 'check' || name === 'build');
}

/** The server tests that import a file of server/test, directly or not: it gives them a database. */
function reaching(tests, name) {
  const files = listFiles(root);
  const graph = dependencyGraph(root, files);
  const targets = files.filter((file) => file.startsWith('server/test/') && file.endsWith(`/${name}`));
  return tests.filter((file) => {
    const reached = reachedFrom(graph, file);
    return targets.some((target) => includesFile(reached, target));
  });
}

async function buildProduct() {
  if (!isBuilt(root)) await build();
  const { code } = await run(process.execPath, [join(root, 'web/bundle-size.mjs')], { cwd: root });
  return counted(code === 0 ? 1 : 0, code === 0 ? 0 : 1);
}

async function runOnEmbedded(files) {
  const folder = mkdtempSync(join(throwAwayFolder(), 'homeport-tests-pg-'));
  folders.push(folder);
  const server = await startTestServer({ folder, log: databaseLog });
  try {
    return await runNode(files, { concurrency: 2, databaseUrl: server.url });
  } finally {
    await server.stop();
  }
}

async function runOnSystem(files, system) {
  if (system === undefined) return skip(files, 'the PostgreSQL of the distribution is not installed');
  const server = await startSystemPostgres(system);
  try {
    return await runNode(files, { concurrency: 2, databaseUrl: server.url });
  } finally {
    await server.stop();
  }
}

/** All tests with a database, with more clients than connections to it. */
async function runThroughPgBouncer(files, system) {
  const pgBouncer = findPgBouncer();
  if (system === undefined || pgBouncer === undefined)
    return skip(files, 'PgBouncer or the PostgreSQL of the distribution is not installed');
  const server = await startSystemPostgres(system);
  // As docs/operations.md requires: behind a pooler, the limits of statements belong to the role.
  await limitRole(server.url);
  const pooler = await startPgBouncer(pgBouncer, server.url);
  try {
    return await runNode(files, { concurrency: 2, databaseUrl: server.url, env: { TEST_POOLER_URL: pooler.url } });
  } finally {
    await pooler.stop();
    await server.stop();
  }
}

async function limitRole(connection) {
  const db = openDatabase({ connection, log: databaseLog });
  await db.pool.query(`alter role homeport set statement_timeout = '10s'`);
  await db.pool.query(`alter role homeport set idle_in_transaction_session_timeout = '20s'`);
  await db.pool.query('alter role homeport set jit = off');
  await db.close();
}

async function runInContainers(files) {
  const why = whyNoEngine();
  if (why !== undefined) return skip(files, why);
  try {
    const released = await makeRelease().catch(() => undefined);
    const env = released === undefined ? {} : { HOMEPORT_RELEASE: released };
    return await withEngine((engine) => runNode(files, { concurrency: 1, env: { ...engine, ...env } }));
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error;
    return skip(files, `the engine does not start:\n${error.message}`);
  }
}

/** Installs every kind of release from its own file and uses it. */
async function runReleased(files) {
  try {
    return await runNode(files, { concurrency: 1, env: { HOMEPORT_RELEASE: await makeRelease() } });
  } catch (error) {
    if (!(error instanceof NotFetched) || process.env.REQUIRE_RELEASE === '1') throw error;
    return skip(files, error.message);
  }
}

let making;

/** The folder with the release for this machine, built once per run. */
function makeRelease() {
  const out = join(scratch, 'release');
  const arch = Object.entries(architectures).find(([, cpu]) => cpu === process.arch)?.[0];
  making ??= release({ out, only: [arch] }).then(() => out);
  return making;
}

async function runBrowser(files, options) {
  if (!hasBrowser()) {
    if (process.env.REQUIRE_BROWSER === '1') throw new Error('REQUIRE_BROWSER=1, but no browser is installed');
    return skip(files, 'no browser is installed');
  }
  const resultsFile = join(mkdtempSync(join(scratch, 'browser-')), 'results.json');
  const cli = join(root, 'node_modules/@playwright/test/cli.js');
  const args = ['-c', 'acceptance/playwright.config.ts', '--reporter=list,json', '--output=.pw/out', ...options];
  const env = testEnvironment({ PLAYWRIGHT_JSON_OUTPUT_FILE: resultsFile });
  const { code } = await run(process.execPath, [cli, 'test', ...args, ...files], { cwd: root, env });
  const stats = existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')).stats : undefined;
  if (stats === undefined) return counted(0, 1);
  return counted(stats.expected, failuresOf(stats.unexpected, code === 0), stats.skipped);
}

async function runNode(files, { concurrency, databaseUrl, env: own = {} }) {
  const env = testEnvironment({ TEST_DATABASE_URL: databaseUrl ?? '', ...own });
  const alone = (file) => isAlone(root, file);
  const { counts, seconds, failed } = await runTestFiles(files, { concurrency, env, fileTimeoutMs, isAlone: alone });
  const total = { passed: 0, failed: 0, skipped: 0, seconds };
  for (const file of files) {
    const counted = counts[file] ?? { passed: 0, failed: 0, skipped: 0 };
    total.passed += counted.passed;
    total.skipped += counted.skipped;
    total.failed += failuresOf(counted.failed, !failed.includes(file));
  }
  return total;
}

/** A file or run that ended badly without a failed test still counts as one failure. */
function failuresOf(failed, isGood) {
  return failed === 0 && !isGood ? 1 : failed;
}

function counted(passed, failed, skipped = 0) {
  return { passed, failed, skipped };
}

function skip(files, why) {
  console.log(`  skipped: ${why}`);
  return counted(0, 0, countDeclared(root, files));
}

function testEnvironment(extra) {
  const { HTTP_PROXY, HTTPS_PROXY, http_proxy, https_proxy, NODE_OPTIONS, ...rest } = process.env;
  return { ...rest, NODE_COMPILE_CACHE: compileCache, ...extra };
}

function logLine(details, message) {
  console.log(`  ${message} ${JSON.stringify(details)}`);
}

const databaseLog = { debug() {}, info() {}, warn: logLine, error: logLine };
