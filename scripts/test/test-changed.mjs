// The tests that reach what changed since a commit, for `npm test -- changed [commit]`.
import { execFileSync } from 'node:child_process';
import { inputs } from '../build-inputs.mjs';
import { dependencyGraph, includesFile, reachedFrom } from '../check/import-graph.mjs';
import { listFiles } from '../source-text.mjs';

/** Changes of these concern every test: packages, and the scripts that run tests. */
const concernsAll =
  /^(package(-lock)?\.json|(.*\/)?package\.json|tsconfig.*\.json|scripts\/(test|test-parts|run|source-text|check\/import-graph|test\/[^/]+)\.mjs|acceptance\/playwright\.config\.ts)$/;
/** The check covers these, so no test has to. */
const checkedOnly = /\.md$|^(biome|knip)\.json$|^LICENSE$|^\.git|^scripts\/regex-verdicts\.json$/;

/**
 * The commit to compare with: `given`, else where this branch left origin/main, or main without a remote. Throws if
 * there is none.
 */
export function baseCommit(root, given) {
  if (given !== undefined) {
    const commit = git(root, ['rev-parse', '--verify', '--quiet', `${given}^{commit}`]);
    if (commit === undefined) throw new Error(`${given} is not a commit of this clone`);
    return commit;
  }
  for (const branch of ['origin/main', 'main']) {
    const base = git(root, ['merge-base', 'HEAD', branch]);
    if (base !== undefined) return base;
  }
  throw new Error('there is no branch main here: name a commit, as in npm test -- changed HEAD~1');
}

/** Files that differ from a commit, uncommitted, new and deleted ones included. */
export function changedFiles(root, commit) {
  const tracked = git(root, ['diff', '--name-only', '--no-renames', '-z', commit, '--']);
  const untracked = git(root, ['ls-files', '--others', '--exclude-standard', '-z']);
  if (tracked === undefined || untracked === undefined) throw new Error(`git cannot compare with ${commit}`);
  return [...new Set([...tracked.split('\0'), ...untracked.split('\0')])].filter((file) => file !== '').sort();
}

/**
 * Chooses among `candidates` (test files) those that reach one of the `changed` files. Returns `{reasons, product, all}`:
 * a changed file for each chosen test, the changed files of the product that no test imports, and the changed files
 * that concern every test.
 */
export function chooseTests(root, candidates, changed) {
  const graph = dependencyGraph(root, listFiles(root));
  const reasons = new Map();
  const met = new Set();
  for (const test of candidates) {
    const reached = reachedFrom(graph, test);
    for (const file of changed) {
      if (!includesFile(reached, file)) continue;
      if (!reasons.has(test)) reasons.set(test, file);
      met.add(file);
    }
  }
  const isProduct = (file) => inputs.some((input) => file === input || file.startsWith(`${input}/`));
  const open = changed.filter((file) => !met.has(file) && !checkedOnly.test(file) && !isTest(file));
  return {
    reasons,
    product: open.filter((file) => isProduct(file) || file.startsWith('web/')),
    all: changed.filter((file) => concernsAll.test(file)),
  };
}

function isTest(file) {
  return /\.(test|spec)\.(ts|tsx|mjs)$/.test(file);
}

function git(root, args) {
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 64 * 1024 * 1024 };
    return execFileSync('git', args, options).replace(/\n$/, '');
  } catch {
    return undefined;
  }
}
