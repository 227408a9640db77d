// Citations of docs/spec: the section, heading or row that a comment or document names must exist.
import { readSource } from '../source-text.mjs';

const specification = 'control-plane-api.md';
const contract = 'contract.md';
const folder = 'docs/spec';
// Migrations never change: an installation compares them with the applied ones.
const skipped = /^(docs\/spec|server\/src\/db\/migrations)\/|^scripts\/check\/citation-rules/;
const cited = /\.(ts|tsx|mjs|css|md|sql|yaml)$/;

const numbers = /\bcontract\.md\)?\s+sections?\s+(\d+(?:(?:,|\s+and)\s+\d+)*)/g;
const headings = /\bcontrol-plane-api\.md\)?\s+"([^"]+)"(?:\s+(\d+(?:\s+(?:to|and)\s+\d+)?))?/g;
const loose = /\b(?:contract(?:'s)?,?\s+sections?\s+\d|specification,?\s+(?:"|sections?\s+\d|\d)|retry\s+rule\s+\d)/gi;

/**
 * Every citation names a section of the contract by number, or a heading or table row of the specification by its first
 * words.
 */
export function checkCitations(root, files) {
  const sections = new Set([...readSource(root, `${folder}/${contract}`).matchAll(/^## (\d+)\. /gm)].map(([, n]) => n));
  const places = readPlaces(readSource(root, `${folder}/${specification}`));
  const problems = [];
  for (const file of files.filter((name) => cited.test(name) && !skipped.test(name))) {
    const text = joined(readSource(root, file));
    const report = (index, message) => problems.push({ file, line: lineAt(text, index), rule: 'citations', message });
    for (const { index, 1: list } of text.matchAll(numbers)) {
      const missing = list.match(/\d+/g).filter((number) => !sections.has(number));
      for (const number of missing) report(index, `${contract} has no section ${number}`);
    }
    for (const { index, 1: words, 2: points } of text.matchAll(headings)) {
      const name = words.replace(/\s+/g, ' ');
      const place = places.find(({ title }) => title.startsWith(name));
      if (place === undefined) report(index, `${specification} has no heading or row "${name}"`);
      for (const point of points?.match(/\d+/g) ?? []) {
        if (place && !place.points.has(point)) report(index, `"${name}" of ${specification} has no point ${point}`);
      }
    }
    for (const { index, 0: words } of text.matchAll(loose)) report(index, `name the file and the section: "${words}"`);
  }
  return problems;
}

/** `[{title, points}]`: headings with the numbers of their lists, and table rows as one line of text. */
function readPlaces(text) {
  const places = [];
  let heading = { title: '', points: new Set() };
  for (const line of text.split('\n')) {
    const title = /^#+ (.+)$/.exec(line)?.[1];
    if (title !== undefined) {
      heading = { title, points: new Set() };
      places.push(heading);
    }
    const point = /^(\d+)\. /.exec(line)?.[1];
    if (point !== undefined) heading.points.add(point);
    const row = /^\| (.+) \|$/.exec(line)?.[1];
    if (row !== undefined) places.push({ title: row.replaceAll(' | ', ' '), points: new Set() });
  }
  return places;
}

/** A comment of several lines as one text, with newlines kept so that positions stay the same. */
function joined(text) {
  return text.replace(/\n[ \t]*(?:\*(?!\/)|\/\/|#|--) ?/g, (mark) => `\n${' '.repeat(mark.length - 1)}`);
}

function lineAt(text, index) {
  return text.slice(0, index).split('\n').length;
}
