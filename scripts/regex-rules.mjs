// Finds regular expressions that can take more than linear time (ReDoS). Verdicts of `recheck` are kept in
// regex-verdicts.json, so that a check only analyzes new patterns; `node scripts/regex-rules.mjs --all` renews them all.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listFiles, readSource } from './source-text.mjs';

const verdictsFile = 'scripts/regex-verdicts.json';
const checked =
  /^(?:web|server\/src|workspace\/src|contracts\/src|workspace|web\/src)\/(?!.*(?:\/test\/|\.test\.|\/dist\/)).*\.(?:ts|tsx|mjs)$/;
/** A comment on the line, or on the line above, that says why the text is short: `regex-bound: one header line`. */
const bound = /\bregex-bound: \S/;
const timeoutMs = 30_000;

/**
 * Problems of the patterns that are new or super-linear, as `[{file, line, rule, message}]`. Analyzing a new pattern
 * takes up to seconds; its verdict is written to the file if `isUpdating`.
 */
export async function checkRegexes(root, { isUpdating = false, isRenewing = false } = {}) {
  const known = isRenewing ? {} : JSON.parse(readFileSync(join(root, verdictsFile), 'utf8'));
  const places = await findPatterns(root);
  const verdicts = {};
  const problems = [];
  for (const [pattern, uses] of places) {
    const verdict = known[pattern] ?? (await analyze(pattern));
    verdicts[pattern] = verdict;
    if (known[pattern] === undefined && !isUpdating)
      problems.push(at(uses[0], `new pattern (${verdict}): run node scripts/regex-rules.mjs`));
    if (verdict === 'linear') continue;
    for (const use of uses) if (!use.isBound) problems.push(at(use, `${verdict}: ${pattern}`));
  }
  if (isUpdating) writeFileSync(join(root, verdictsFile), `${JSON.stringify(sorted(verdicts), null, 2)}\n`);
  else
    for (const pattern of Object.keys(known))
      if (!places.has(pattern))
        problems.push({ file: verdictsFile, line: 1, rule: 'regex', message: `no longer used: ${pattern}` });
  return problems;
}

function at({ file, line }, message) {
  return { file, line, rule: 'regex', message };
}

function sorted(verdicts) {
  return Object.fromEntries(Object.entries(verdicts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Every regular expression of the product's sources: `/source/flags` to the places that use it. */
async function findPatterns(root) {
  const files = listFiles(root).filter((file) => checked.test(file));
  const { parseSync } = await import('vite');
  const places = new Map();
  for (const file of files) {
    const text = readSource(root, file);
    const lines = text.split('\n');
    for (const { pattern, start } of patternsOf(parseSync(file, text).program)) {
      const line = text.slice(0, start).split('\n').length;
      const isBound = [lines[line - 1], lines[line - 2]].some((each) => bound.test(each ?? ''));
      places.set(pattern, [...(places.get(pattern) ?? []), { file, line, isBound }]);
    }
  }
  return places;
}

function* patternsOf(node) {
  if (typeof node !== 'object' || node === null) return;
  if (Array.isArray(node)) {
    for (const each of node) yield* patternsOf(each);
    return;
  }
  if (node.type === 'Literal' && node.regex)
    yield { pattern: `/${node.regex.pattern}/${node.regex.flags}`, start: node.start };
  const made = (node.type === 'NewExpression' || node.type === 'CallExpression') && node.callee.name === 'RegExp';
  if (made && typeof node.arguments[0]?.value === 'string') {
    const flags = typeof node.arguments[1]?.value === 'string' ? node.arguments[1].value : '';
    yield { pattern: `/${node.arguments[0].value}/${flags}`, start: node.start };
  }
  for (const key in node) if (key !== 'parent') yield* patternsOf(node[key]);
}

/** `linear`, `polynomial`, `exponential` or `unknown`. */
export async function analyze(pattern) {
  const { check } = await import('recheck');
  const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(pattern);
  const { status, complexity } = await check(source, flags, { timeout: timeoutMs });
  if (status === 'safe') return 'linear';
  return status === 'vulnerable' ? complexity.type : 'unknown';
}

if (process.argv[1] === import.meta.filename) {
  const root = dirname(import.meta.dirname);
  const problems = await checkRegexes(root, { isUpdating: true, isRenewing: process.argv.includes('--all') });
  for (const { file, line, message } of problems) console.log(`${file}:${line} ${message}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
