import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkCitations } from './check/citation-rules.mjs';
import { checkCoverage } from './check/coverage-rules.mjs';
import { checkImportRules } from './check/import-rules.mjs';
import { checkDocumentation } from './docs/docs-pages.mjs';
import { checkRegexes } from './regex-rules.mjs';
import { listFiles } from './source-text.mjs';
import { checkDocumentPaths, checkFileLengths, checkLanguage, checkLockfile, checkSpreads } from './text-rules.mjs';

const root = dirname(import.meta.dirname);
// One program for everything that runs in Node, one for the browser, so that shared sources are read twice, not five
// times.
const programs = { 'server, workspace, contracts and acceptance': '.', web: 'web' };
// Several checkers would each resolve the types of shared sources: four take twice the CPU time of one.
const oneChecker = ['--checkers', '1'];
const typesCache = join(root, 'node_modules/.cache/types');

/**
 * Types, style, unused code, import rules, lengths, document paths, links, citations, coverage, reference
 * pages and lockfile. Returns how many parts passed and failed: `{passed, failed, skipped}`.
 */
export async function check() {
  const types = Object.entries(programs).map(([name, place]) => ({
    name: `types of ${name}`,
    work: () => program('typescript/bin/tsc', ['-p', place, ...oneChecker, ...incremental(place)]),
  }));
  const parts = [
    ...types,
    { name: 'Biome', work: () => program('@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']) },
    { name: 'unused code', work: unused },
    { name: 'import rules', work: () => report(checkImportRules(root)) },
    { name: 'file lengths', work: lengths },
    { name: 'regular expressions', work: async () => report(await checkRegexes(root)) },
    { name: 'language', work: () => report(checkLanguage(root)) },
    { name: 'spreads', work: () => report(checkSpreads(root)) },
    { name: 'document paths', work: () => report(checkDocumentPaths(root)) },
    { name: 'documentation', work: () => report(checkDocumentation(root)) },
    { name: 'citations', work: () => report(checkCitations(root, listFiles(root))) },
    { name: 'reference pages and release', work: settings },
    { name: 'coverage', work: coverage },
    { name: 'lockfile', work: () => report(checkLockfile(root)) },
  ];
  const results = await Promise.all(parts.map(runPart));
  const passed = results.filter(Boolean).length;
  return { passed, failed: results.length - passed, skipped: 0 };
}

async function runPart({ name, work }) {
  const startedAt = performance.now();
  const output = await work();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (output === '') {
    console.log(`  ok    ${name} (${seconds} s)`);
    return true;
  }
  console.log(`  FAIL  ${name} (${seconds} s)\n${output.trimEnd()}`);
  return false;
}

/** Runs a tool under this Node; returns an empty text if it succeeds. */
function program(path, args) {
  return new Promise((resolve) => {
    const options = { cwd: root, maxBuffer: 64 * 1024 * 1024, timeout: 300_000 };
    execFile(process.execPath, [join(root, 'node_modules', path), ...args], options, (error, stdout, stderr) => {
      resolve(error === null ? '' : `${stdout}${stderr}` || String(error));
    });
  });
}

/** Reuses the results of an earlier compile. */
function incremental(place) {
  return ['--incremental', '--tsBuildInfoFile', join(typesCache, `${place === '.' ? 'node' : place}.tsbuildinfo`)];
}

/** Unused files, dependencies and exports (`knip.json`). `npm run check` installs knip; the bare script can lack it. */
function unused() {
  if (existsSync(join(root, 'node_modules/knip'))) {
    return program('knip/bin/knip.js', [
      '--no-progress',
      '--cache',
      '--cache-location',
      join(root, 'node_modules/.cache/knip'),
    ]);
  }
  console.log('  note  unused code: skipped because knip is not installed; npm run check installs it');
  return '';
}

function report(problems) {
  return problems.map(({ file, line, rule, message }) => `${file}:${line} [${rule}] ${message}\n`).join('');
}

/** Loaded late because it reads the server's sources; the type check explains errors in them. */
async function settings() {
  try {
    const { checkReference } = await import('./reference-pages.mjs');
    return report(await checkReference());
  } catch (error) {
    return `${error}\n`;
  }
}

/** Reads the endpoint table; the type check explains errors in it. */
async function coverage() {
  try {
    const { problems, open } = await checkCoverage(root);
    if (open > 0) console.log(`  note  coverage: ${open} rows are open (issue of workspaces)`);
    return report(problems);
  } catch (error) {
    return `${error}\n`;
  }
}

function lengths() {
  const { problems, warnings } = checkFileLengths(root);
  if (warnings.length > 0) console.log(`  note  long files:\n${report(warnings).trimEnd()}`);
  return report(problems);
}

if (process.argv[1] === import.meta.filename) process.exitCode = (await check()).failed === 0 ? 0 : 1;
