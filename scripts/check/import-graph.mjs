// The files that each source file imports or reads by path, and the files that reach a given one.
import { posix } from 'node:path';
import { listImports, readSource } from '../source-text.mjs';

const code = /\.(ts|tsx|mts|mjs|js)$/;
const tests = /\.(test|spec)\.(ts|tsx|mjs)$/;
const product = /^(contracts|server|web|workspace)\/src\/(?!.*\.test\.)/;
const pathCalls = /\b(?:join|resolve|URL|readSource|readFileSync|readFile|glob(?:Sync)?)\s*\(/g;
const literals = /(['"`])((?:\\.|(?!\1)[^\\\n])*)\1/g;
const namedPath = /(['"`])((?:\.{1,2}\/)?[\w.@-]+(?:\/[\w.@-]+)+)\1/g;

/** The file that an import names, as a path from the root; a package keeps its name. `known` is the set of all files. */
export function resolveImport(file, specifier, known) {
  if (specifier.startsWith('@homeport/contracts/')) {
    return `contracts/src/${specifier.slice('@homeport/contracts/'.length)}.ts`;
  }
  if (!specifier.startsWith('.')) return specifier;
  const path = posix.join(posix.dirname(file), specifier);
  return [path, `${path}.ts`, `${path}.tsx`].find((candidate) => known.has(candidate)) ?? path;
}

/**
 * The imports of each code file at run time and the paths it reads: `Map<file, Set<path>>`. A path in a string literal counts,
 * so that a test depends on the migrations, locales and deploy files that it reads. A path that ends with `/` stands for
 * the files of a folder that are no code: code is reached by imports, or by a test that reads its folder (`/**`).
 */
export function dependencyGraph(root, files) {
  const known = new Set(files);
  const folders = new Set(files.flatMap(parentsOf));
  const graph = new Map();
  for (const file of files) {
    if (!code.test(file)) continue;
    const text = readSource(root, file);
    const imports = listImports(text);
    const imported = imports.filter(({ typeOnly }) => !typeOnly);
    const next = new Set(imported.map(({ specifier }) => resolveImport(file, specifier.replace(/\?.*$/, ''), known)));
    const types = new Set(imports.filter(({ typeOnly }) => typeOnly).map(({ specifier }) => specifier));
    for (const path of namedPaths(text, file, types)) {
      if (known.has(path)) next.add(path);
      else if (folders.has(path)) next.add(tests.test(file) ? `${path}/**` : `${path}/`);
    }
    graph.set(file, next);
  }
  return graph;
}

/** All folders above a file, without the root. */
function parentsOf(file) {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/**
 * The paths that string literals can mean, without the specifiers of type imports: from the file's own folder, in tests
 * and scripts also from the root.
 */
function namedPaths(text, file, types) {
  const found = new Set();
  const ownSources = product.exec(file)?.[0];
  const add = (path) => {
    const near = posix.join(posix.dirname(file), path).replace(/\/$/, '');
    // The product reads no other files of the tree: it only checks whether it runs from a clone.
    if (ownSources !== undefined && !near.startsWith(ownSources)) return;
    found.add(near);
    if (ownSources === undefined) found.add(posix.normalize(path.replace(/^(\.\.?\/)+/, '')).replace(/\/$/, ''));
  };
  for (const [, , path] of text.matchAll(namedPath)) if (!types.has(path)) add(path);
  for (const call of text.matchAll(pathCalls)) {
    const segments = [...argumentsFrom(text, call.index + call[0].length).matchAll(literals)].map(([, , part]) => part);
    // The part of a template before its first value is the folder of the file.
    const parts = segments.map((part) => part.replace(/\$\{.*$/, ''));
    if (parts.some((part) => part !== '')) add(parts.join('/'));
  }
  return found;
}

/** The text up to the parenthesis that closes a call, at most 300 characters. */
function argumentsFrom(text, start) {
  let depth = 1;
  const end = Math.min(text.length, start + 300);
  for (let index = start; index < end; index += 1) {
    if (text[index] === '(') depth += 1;
    else if (text[index] === ')') depth -= 1;
    if (depth === 0) return text.slice(start, index);
  }
  return text.slice(start, end);
}

/** Every path of the graph that `file` reaches, itself included. */
export function reachedFrom(graph, file) {
  const seen = new Set([file]);
  for (const each of seen) for (const next of graph.get(each) ?? []) seen.add(next);
  return seen;
}

/** Whether a set from `reachedFrom` contains a file, or a folder that is read and has it. */
export function includesFile(reached, file) {
  if (reached.has(file)) return true;
  return parentsOf(file).some(
    (folder) => reached.has(`${folder}/**`) || (!code.test(file) && reached.has(`${folder}/`)),
  );
}
