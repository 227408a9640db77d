// File lengths, spreads of literals, paths that documents mention, a complete lockfile, and the language of texts.
import { existsSync } from 'node:fs';
import { join, posix, relative, resolve } from 'node:path';
import { findingsIn } from './language/findings.mjs';
import { unitsOf } from './language/units.mjs';
import { listFiles, readSource } from './source-text.mjs';

const measured = /\.(ts|tsx|mjs|js|css)$/;
const longest = 500;
const remarkable = 400;

/** `{problems, warnings}`: files over 500 lines fail, those over 400 are listed. */
export function checkFileLengths(root) {
  const problems = [];
  const warnings = [];
  for (const file of listFiles(root).filter((name) => measured.test(name))) {
    const lines = readSource(root, file).split('\n').length - 1;
    if (lines <= remarkable) continue;
    const target = lines > longest ? problems : warnings;
    target.push({ file, line: 1, rule: 'file-length', message: `${lines} lines` });
  }
  return { problems, warnings };
}

const code = /\.(ts|tsx|mjs)$/;

/** An object spread into another one, member by member, only to save lines. List the members instead. */
export function checkSpreads(root) {
  const problems = [];
  for (const file of listFiles(root).filter((name) => code.test(name))) {
    readSource(root, file)
      .split('\n')
      .forEach((text, index) => {
        if (!/(^|[{,(\s])\.{3}\{/.test(text)) return;
        problems.push({ file, line: index + 1, rule: 'spread', message: 'write the members themselves' });
      });
  }
  return problems;
}

const documents = /^(README\.md|CONTRIBUTING\.md|docs\/.*\.md)$/;
const placeholder = /[*<>{}$]|NNNN|\.\.\.|…/;

/** Every path in backticks, and every relative link, of README, CONTRIBUTING and docs must exist. */
export function checkDocumentPaths(root) {
  const files = listFiles(root);
  const folders = new Set(files.map((file) => file.split('/')[0]));
  const problems = [];
  for (const file of files.filter((name) => documents.test(name))) {
    readSource(root, file)
      .split('\n')
      .forEach((text, index) => {
        for (const path of namedPaths(text, file, folders)) {
          if (existsSync(posix.join(root, path))) continue;
          problems.push({ file, line: index + 1, rule: 'document-paths', message: `${path} does not exist` });
        }
      });
  }
  return problems;
}

function namedPaths(text, file, folders) {
  const quoted = [...text.matchAll(/`([^`\s]+)`/g)]
    .map((match) => match[1].replace(/[:#].*$/, ''))
    .filter((path) => !placeholder.test(path) && path.includes('/') && folders.has(path.split('/')[0]));
  const linked = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1].replace(/#.*$/, ''))
    .filter((path) => path !== '' && !/^[a-z]+:/.test(path))
    .map((path) => posix.join(posix.dirname(file), path));
  return [...quoted, ...linked];
}

/**
 * npm leaves packages for other platforms out of the lockfile if the registry in use lacks them; npm 11 and later then
 * refuse `npm ci`. Every dependency of every locked package must be listed.
 */
export function checkLockfile(root) {
  const { packages } = JSON.parse(readSource(root, 'package-lock.json'));
  const problems = [];
  for (const [path, { dependencies, optionalDependencies }] of Object.entries(packages)) {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (isLocked(packages, path, name)) continue;
      const message = `${path} needs ${name}, which is missing`;
      problems.push({ file: 'package-lock.json', line: 1, rule: 'complete-lockfile', message });
    }
  }
  return problems;
}

function isLocked(packages, path, name) {
  const parts = path.split('/node_modules/');
  const folders = parts.map((_, index) => `${parts.slice(0, index + 1).join('/node_modules/')}/node_modules/${name}`);
  return [`node_modules/${name}`, ...folders].some((folder) => folder in packages);
}

const prose = /\.(?:ts|tsx|mts|mjs|js|md|css|sql|sh|ya?ml|toml|conf)$|(?:^|\/)(?:Dockerfile[\w.-]*|Caddyfile)$/;

/**
 * Violations of the language rules in comments, logs, help, prompts, endpoint summaries, headings and test names, in
 * files below `paths`: `{file, line, rule, message, kind}`.
 */
export function checkLanguage(root, paths = ['']) {
  const files = listFiles(root).filter((file) =>
    paths.some((path) => path === '' || file === path || file.startsWith(`${path.replace(/\/$/, '')}/`)),
  );
  return files.flatMap((file) => {
    if (!prose.test(file)) return [];
    return unitsOf(file, readSource(root, file)).flatMap(({ kind, text, line }) =>
      findingsIn(kind, text).map(({ rule, fragment, hint, offset }) => {
        const at = line + text.slice(0, offset).split('\n').length - 1;
        return { file, line: at, rule, kind, message: `${kind}: "${fragment}" → ${hint}` };
      }),
    );
  });
}

/** `node scripts/text-rules.mjs --list [path …]` prints the findings, then their number for each rule. */
function list(paths) {
  const root = join(import.meta.dirname, '..');
  const given = paths.map((path) => relative(root, resolve(path)));
  const findings = checkLanguage(root, given.length === 0 ? [''] : given);
  for (const { file, line, rule, message } of findings) console.log(`${file}:${line} [${rule}] ${message}`);
  const counts = Map.groupBy(findings, ({ rule }) => rule);
  for (const [rule, { length }] of counts) console.log(`${rule}: ${length}`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}

if (import.meta.main) {
  const [option, ...paths] = process.argv.slice(2);
  if (option === '--list') list(paths);
  else {
    console.error('Usage: node scripts/text-rules.mjs --list [path …]');
    process.exitCode = 2;
  }
}
