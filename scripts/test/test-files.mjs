// The test files of each part of a run. Files are recognized by their name and by what they import, not by a fixed
// folder, so that a file can move within server/test.
import { listFiles, readSource } from '../source-text.mjs';

const unit = /^(contracts|workspace|web|server\/src|scripts)\/.*\.test\.(ts|mjs)$/;
const server = /^server\/test\/.*\.test\.ts$/;

/**
 * Names of files that change timers, `fetch` or the environment of their process, measure its memory or time, or need
 * something that other files replace. Each runs in a process of its own.
 */
export const aloneNames = [
  'control-plane-watchdog',
  'documents-hostile',
  'documents-hostile-service',
  'embedded-postgres',
  'hostile',
  'kubernetes-runtime',
  'large-messages-turns',
  'newer-schema',
  'oracle-gemini',
  'parsing-hostile',
  'passwords',
  'prometheus',
  'reverse-proxies',
  'streaming',
  'unfinished-bodies',
];
const importsProcess = /from '(?:\.{1,2}\/)+process\.ts'/;
const importsEngine = /from '(?:\.{1,2}\/)+(?:[\w-]+\/)*docker-lab\.ts'/;

/** Starts of the names of files that depend on SQL most: they also run on the distribution's PostgreSQL. */
export const sqlNames = [
  'accounts-se',
  'artifacts-search',
  'catalogue-default',
  'catalogue-http',
  'chat-answers.',
  'chat-changes.',
  'chat-compaction.',
  'chat-inputs.',
  'chat-recovery.',
  'chat-replicas.',
  'chat-summaries.',
  'chat-tools.',
  'conversations-',
  'migrate',
  'pool',
  'usage-reports',
];

/**
 * Names of server tests that repeat kills, outages or random runs, or start many processes; `npm test` leaves them to
 * `npm run test:all`.
 */
export const longNames = [
  'backup-kills',
  'backup-releases',
  'backup-versions',
  'catalogue-random',
  'chat-compaction-random',
  'chat-outage',
  'chat-steering-random',
  'database-away',
  'documents-corpus',
  'documents-hostile',
  'documents-hostile-service',
  'embedded-postgres',
  'hostile',
  'imports-fuzz',
  'mcp-conformance',
  'migrate-kills',
  'reverse-proxies',
  'streaming',
];

/** The same for tests of the built product over HTTP. */
const longAcceptanceNames = ['fuzz'];

/** All test files below `root`, by the kind of test. */
export function sortTestFiles(root, files = listFiles(root)) {
  const sorted = { unit: [], server: [], long: [], http: [], faults: [], release: [], containers: [], browser: [] };
  for (const file of files) {
    const kind = kindOf(root, file);
    if (kind !== undefined) sorted[kind].push(file);
  }
  return sorted;
}

function kindOf(root, file) {
  if (unit.test(file)) return 'unit';
  if (server.test(file)) {
    if (importsEngine.test(readSource(root, file))) return 'containers';
    return longNames.includes(nameOf(file)) ? 'long' : 'server';
  }
  if (/^acceptance\/browser\/.*\.spec\.ts$/.test(file)) return 'browser';
  if (!/^acceptance\/.*\.test\.ts$/.test(file)) return undefined;
  if (file.startsWith('acceptance/docker/')) return 'containers';
  if (file.startsWith('acceptance/release/')) return 'release';
  const isLong = file.startsWith('acceptance/faults/') || longAcceptanceNames.includes(nameOf(file));
  return isLong ? 'faults' : 'http';
}

/** True for a file that gets its own process: it changes process-wide state, or helpers of it clean up at exit. */
export function isAlone(root, file) {
  if (file.startsWith('acceptance/') || aloneNames.includes(nameOf(file))) return true;
  const text = readSource(root, file);
  return importsProcess.test(text) || importsEngine.test(text);
}

/** Whether a server test runs on the distribution's PostgreSQL as well. */
export function dependsOnSql(file) {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return sqlNames.some((start) => name.startsWith(start));
}

function nameOf(file) {
  return file.slice(file.lastIndexOf('/') + 1).replace(/\.(test|spec)\.\w+$/, '');
}

/** How many tests a file declares, for a part that is skipped; a loop around `test` counts once. */
export function countDeclared(root, files) {
  let count = 0;
  for (const file of files) count += readSource(root, file).match(/^\s*test(?:\.only)?\(/gm)?.length ?? 0;
  return count;
}
