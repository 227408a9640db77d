import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const skippedFolders = new Set(['node_modules', 'dist', 'vectors', 'results', 'data', '.git', '.cache']);

/** All files below `root`, as paths relative to it with forward slashes. */
export function listFiles(root, folder = '') {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : listFiles(root, path);
    return entry.isFile() ? [path] : [];
  });
}

export function readSource(root, path) {
  return readFileSync(join(root, path), 'utf8');
}

const tokens = /(['"])(?:\\.|(?!\1)[^\n\\])*\1|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

/** The text with comments blanked out, keeping newlines. */
function withoutComments(text) {
  return text.replace(tokens, (token) => (token.startsWith('/') ? token.replace(/[^\n]/g, ' ') : token));
}

/** The text with comments and the insides of quotes blanked out; templates stay, because their expressions are code. */
export function withoutCommentsAndStrings(text) {
  return text.replace(tokens, (token) => (token.startsWith('`') ? token : token.replace(/[^\n]/g, ' ')));
}

const statements =
  /(?:^|[;}\s])(import|export)\s+((?:type\s+)?(?:[\w*{][^'";()]*?)?)\s*(?:from\s*)?(['"])([^'"\n]+)\3/g;
const dynamic = /\bimport\s*\(\s*(['"`])([^'"`\n]+)\1/g;

/** Every import of a file: `{specifier, names, typeOnly, line}`; `names` is the text between `import` and `from`. */
export function listImports(text) {
  const code = withoutComments(text);
  const lineOf = (index) => code.slice(0, index).split('\n').length;
  const found = [];
  for (const match of code.matchAll(statements)) {
    const names = match[2].replace(/\bfrom\s*$/, '').trim();
    if (match[1] === 'export' && !/\bfrom\s*['"]/.test(match[0])) continue;
    found.push({ specifier: match[4], names, typeOnly: isTypeOnly(names), line: lineOf(match.index + 1) });
  }
  for (const match of code.matchAll(dynamic)) {
    found.push({ specifier: match[2], names: '*', typeOnly: false, line: lineOf(match.index) });
  }
  return found;
}

function isTypeOnly(names) {
  if (/^type\s/.test(names)) return true;
  const list = /^\{([\s\S]*)\}$/.exec(names)?.[1];
  return list?.split(',').every((name) => name.trim() === '' || /^type\s/.test(name.trim())) ?? false;
}
