// Programs of the system that some tests need. A run lists the missing ones once, with the way to get them; the tests
// that need them are skipped, or fail where the variable in `required` is 1, as in .ci/run.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromiumPath } from '../../acceptance/chromium.ts';
import { findHelm } from './get-helm.mjs';
import { findPgBouncer } from './system-pgbouncer.mjs';
import { findSystemPostgres } from './system-postgres.mjs';
import { whyNoEngine } from './test-docker.mjs';

/** Whether the browser of acceptance/chromium.ts is installed. */
export const hasBrowser = () => existsSync(chromiumPath);

const needs = [
  {
    name: 'browser',
    isFound: hasBrowser,
    for: 'tests in the browser',
    get: 'apt install chromium-headless-shell (or chromium), or set CHROMIUM_PATH',
  },
  {
    name: 'bubblewrap',
    isFound: hasSandbox,
    for: 'workspaces in a sandbox',
    get: 'apt install bubblewrap; a container must permit user namespaces',
  },
  {
    name: 'PostgreSQL',
    isFound: () => findSystemPostgres() !== undefined,
    for: 'a second run of tests with SQL; all others use the one from npm',
    get: 'apt install postgresql',
    isInAll: true,
  },
  {
    name: 'PgBouncer',
    isFound: () => findPgBouncer() !== undefined,
    for: 'tests of poolers',
    get: 'apt install pgbouncer',
  },
  {
    name: 'Docker engine',
    isFound: () => whyNoEngine() === undefined,
    for: 'workspaces in containers',
    get: 'apt install docker.io as root, or set DOCKER_HOST',
    isInAll: true,
  },
  {
    name: 'Helm',
    isFound: () => findHelm() !== undefined,
    for: 'tests of the chart',
    get: 'node scripts/test/get-helm.mjs',
  },
  {
    name: 'reverse proxies',
    isFound: () => ['caddy', 'nginx', 'apache2'].every(isInstalled),
    for: 'tests behind Caddy, nginx and Apache',
    get: 'apt install caddy nginx-light apache2-bin',
    isInAll: true,
  },
  {
    name: 'Prometheus',
    isFound: () => isInstalled('promtool') && isInstalled('prometheus'),
    for: 'tests of the alert rules',
    get: 'apt install prometheus',
  },
  {
    name: 'pdftotext',
    isFound: () => isInstalled('pdftotext'),
    for: 'tests of printed conversations',
    get: 'apt install poppler-utils',
    isInAll: true,
  },
  { name: 'git', isFound: () => isInstalled('git'), for: 'tests of clones and commits', get: 'apt install git' },
  {
    name: 'Python',
    isFound: () => isInstalled('python3'),
    for: 'tests of archives and of programs in a workspace',
    get: 'apt install python3',
  },
  {
    name: 'curl',
    isFound: () => isInstalled('curl'),
    for: 'tests of commands in the documentation',
    get: 'apt install curl',
  },
  {
    name: 'systemd-analyze',
    isFound: () => isInstalled('systemd-analyze'),
    for: 'tests of the systemd unit',
    get: 'apt install systemd',
  },
];

/** The missing programs for `npm test`, or for everything: `[{name, for, get}]`. */
export function findMissing({ all }) {
  return needs.filter((need) => (all || need.isInAll !== true) && !need.isFound());
}

/** The lines that a run prints first about missing programs. */
export function describeMissing(missing) {
  if (missing.length === 0) return [];
  const width = Math.max(...missing.map(({ name }) => name.length));
  const lines = missing.map((need) => `  ${need.name.padEnd(width)}  for ${need.for}: ${need.get}`);
  return ['Not available here, so the tests that need it are skipped:', ...lines, ''];
}

function isInstalled(program) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.some((folder) => folder !== '' && existsSync(join(folder, program)));
}

/** Whether bubblewrap is installed and may create user namespaces. */
function hasSandbox() {
  if (process.platform !== 'linux') return false;
  return spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true'], { timeout: 10_000 }).status === 0;
}
