// acceptance/COVERAGE.md: every row names a test that exists, every endpoint and every error code has a row.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles } from '../source-text.mjs';

const page = 'acceptance/COVERAGE.md';
const testFile = /\.(test|spec)\.(ts|tsx|mjs)$/;
/** A row whose tests belong to a later issue: reported, never counted as covered. */
const openMark = /\bopen: issue of workspaces\b/;
const reference = /`([^`]+\.(?:test|spec)\.(?:ts|tsx|mjs))` "((?:[^"\\]|\\.)+)"/g;

/** Checks the page; `{problems, open}`: `open` counts the rows that wait for their issue. */
export async function checkCoverage(root) {
  const { endpoints } = await import('../../contracts/src/endpoints.ts');
  const { errorStatus } = await import('../../contracts/src/errors.ts');
  const wanted = {
    Endpoints: Object.values(endpoints).map(({ method, path }) => `${method} ${path}`),
    'Error codes': Object.keys(errorStatus),
  };
  return checkRows(readRows(readFileSync(join(root, page), 'utf8')), wanted, testNamesOf(root));
}

/** `[{section, subject, proof, line}]` of every table row below a heading. */
export function readRows(text) {
  const rows = [];
  let section = '';
  for (const [index, line] of text.split('\n').entries()) {
    section = /^## (.+)$/.exec(line)?.[1] ?? section;
    const cells = /^\|(.*)\|\s*$/
      .exec(line)?.[1]
      ?.split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|'));
    if (cells === undefined || /^:?-+:?$/.test(cells[0]) || cells.at(-1) === 'Proved by') continue;
    rows.push({ section, subject: cells[0].replaceAll('`', ''), proof: cells.at(-1), line: index + 1 });
  }
  return rows;
}

export function checkRows(rows, wanted, testNames) {
  const problems = [];
  const report = (line, message) => problems.push({ file: page, line, rule: 'coverage', message });
  let open = 0;
  for (const { subject, proof, line } of rows) {
    const named = [...proof.matchAll(reference)];
    if (openMark.test(proof)) open += 1;
    else if (named.length === 0) report(line, `"${subject}" has no test`);
    for (const [, file, name] of named) {
      const names = testNames(file);
      if (names === undefined) report(line, `there is no ${file}`);
      else if (!names.some((pattern) => pattern.test(name.replaceAll('\\"', '"')))) {
        report(line, `${file} has no test "${name}"`);
      }
    }
  }
  for (const [section, subjects] of Object.entries(wanted)) {
    const present = new Set(rows.filter((row) => row.section === section).map((row) => row.subject));
    for (const subject of subjects) if (!present.has(subject)) report(1, `${section}: no row for ${subject}`);
    for (const subject of present) if (!subjects.includes(subject)) report(1, `${section}: ${subject} does not exist`);
  }
  return { problems, open };
}

/** Finds the names of a file's tests, as patterns: template values match any text. */
function testNamesOf(root) {
  const files = new Set(listFiles(root).filter((file) => testFile.test(file)));
  const found = new Map();
  return (file) => {
    if (!files.has(file)) return undefined;
    if (!found.has(file)) found.set(file, namePatterns(readFileSync(join(root, file), 'utf8')));
    return found.get(file);
  };
}

export function namePatterns(source) {
  const call = /\b(?:test|describe|it)(?:\.\w+)?\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;
  return [...source.matchAll(call)].map(([, single, double, template]) => {
    const text = (single ?? double ?? template).replace(/\\(['"`])/g, '$1');
    const pieces = template === undefined ? [text] : text.split(/\$\{[^}]*\}/);
    return new RegExp(`^${pieces.map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`, 's');
  });
}
