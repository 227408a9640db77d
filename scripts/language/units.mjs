// The texts of a file that people or models read as prose: `{kind, text, line}`.
import { scanCode } from './scan-code.mjs';

const code = /\.(?:ts|tsx|mts|mjs|js)$/;
/** Texts of the interface have rules of their own; the others are foreign or generated. */
const skipped =
  /^(?:docs\/spec\/|acceptance\/COVERAGE\.md$|acceptance\/browser\/POINTS\.md$|docs\/(?:settings|commands|errors|metrics|api-reference)\.md$|web\/src\/locales\/|server\/src\/db\/migrations\/|scripts\/language\/|scripts\/text-rules\.test\.mjs$|.*\/(?:vectors|fixtures|results|data)\/)/;
const test = /(?:\.(?:test|spec)\.(?:ts|tsx|mjs)$|^(?:contracts|server|workspace)\/test\/|^acceptance\/)/;
const helpFile =
  /^(?:server\/src\/(?:operations|commands|imports|exports|backups)\/[\w-]*commands?[\w-]*\.ts|server\/src\/(?:admin|config-table|config\/[\w-]+)\.ts|workspace\/src\/cli\/|scripts\/(?:(?!reference\/)\w+\/)?[\w-]+\.mjs$)/;
const promptFile = /^server\/src\/(?:chat\/(?:turn|tools)\/|settings\/default-instructions)/;
const endpointTable = /^contracts\/src\//;
const hashComments = /(?:\.(?:sh|ya?ml|toml|conf)|(?:^|\/)(?:Dockerfile[\w.-]*|Caddyfile))$/;
const testCallee = /(?:^|\.)(?:test|describe|it|step|suite)(?:\.\w+)?$/;
const logCallee = /\blog(?:ger)?\??\.(?:trace|debug|info|warn|error|fatal)$/;
const helpProperty = /^(?:summary|description|help|usage|about|takes)$/;

/** `kind`: comment, test name, log, help, prompt, summary, heading, or docs (prose of a page, checked for spelling). */
export function unitsOf(file, source) {
  if (skipped.test(file)) return [];
  if (code.test(file)) return codeUnits(file, source);
  if (file.endsWith('.md')) return pageUnits(source);
  if (file.endsWith('.css')) return commentUnits(source, [...source.matchAll(/\/\*[\s\S]*?\*\//g)].map(commentAt));
  if (file.endsWith('.sql')) return commentUnits(source, [...source.matchAll(/(?<=^\s*)--[^\n]*/gm)].map(commentAt));
  if (hashComments.test(file)) {
    return commentUnits(source, [...source.matchAll(/(?<=^|\s)#(?!!)\s[^\n]*/gm)].map(commentAt));
  }
  return [];
}

function commentAt(match) {
  return { text: match[0], index: match.index };
}

function codeUnits(file, source) {
  const tokens = scanCode(source);
  const lineOf = lines(source);
  const units = commentUnits(
    source,
    tokens.filter(({ type }) => type === 'comment'),
  );
  for (const token of tokens) {
    const kind = token.type === 'string' ? kindOf(file, token) : undefined;
    if (kind !== undefined) units.push({ kind, text: token.text, line: lineOf(token.index) });
  }
  return units.sort((one, other) => one.line - other.line);
}

function kindOf(file, { text, callee, isFirst, property }) {
  if (testCallee.test(callee) && isFirst) return 'test name';
  if (test.test(file)) return undefined;
  if (logCallee.test(callee)) return 'log';
  if (!/\s\S+\s/.test(text)) return undefined;
  if (endpointTable.test(file)) return property === 'summary' || property === 'description' ? 'summary' : undefined;
  if (promptFile.test(file)) return 'prompt';
  if (helpFile.test(file) || helpProperty.test(property)) return 'help';
  return undefined;
}

/** Line comments that follow each other are one text. */
function commentUnits(source, comments) {
  const lineOf = lines(source);
  const units = [];
  let last;
  for (const { text, index } of comments) {
    const line = lineOf(index);
    const isLine = !text.startsWith('/*');
    const plain = isLine ? text.replace(/^(?:\/\/+|--+|#+)\s?/, '') : blockText(text);
    if (/^(?:\s*biome-ignore|\s*@ts-|[/\s]*<reference|\s*eslint-|\s*SPDX)/.test(plain)) continue;
    const column = index - source.lastIndexOf('\n', index - 1);
    if (isLine && last !== undefined && last.end === line - 1 && last.column === column) {
      last.unit.text += `\n${plain}`;
      last.end = line;
      continue;
    }
    const unit = { kind: 'comment', text: plain, line };
    units.push(unit);
    last = isLine ? { unit, end: line, column } : undefined;
  }
  return units;
}

function blockText(text) {
  return text
    .replace(/^\/\*+/, '')
    .replace(/\*+\/$/, '')
    .replace(/^[ \t]*\*[ \t]?/gm, '');
}

function pageUnits(source) {
  const units = [];
  let isFenced = false;
  source.split('\n').forEach((text, index) => {
    if (/^\s*(?:```|~~~)/.test(text)) isFenced = !isFenced;
    else if (!isFenced && text.trim() !== '') {
      const heading = /^#{1,6}\s+(.+)$/.exec(text)?.[1];
      units.push({ kind: heading === undefined ? 'docs' : 'heading', text: heading ?? text, line: index + 1 });
    }
  });
  return units;
}

/** The line number, from 1, of an index. */
function lines(source) {
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
  return (index) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= index) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
