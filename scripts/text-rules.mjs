// File lengths, spreads of literals, paths that documents mention, and a complete lockfile.
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
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

/** An object spread into another one, member by member, only to save lines: its members can stand there themselves. */
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
