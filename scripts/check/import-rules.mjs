// Rules for imports between folders (CONTRIBUTING.md, "Import rules"). Reads text, not types: fast, and needs no compiler.

import { listFiles, listImports, readSource, withoutCommentsAndStrings } from '../source-text.mjs';
import { resolveImport } from './import-graph.mjs';

const code = /\.(ts|tsx|mjs|js)$/;
const test = /\.test\.(ts|tsx|mjs)$/;

// A feature may import only those of lower rank.
const featureRank = {
  commands: 16,
  administration: 15,
  imports: 14,
  exports: 14,
  backups: 14,
  provision: 13,
  chat: 12,
  'web-search': 11,
  documents: 10,
  sharing: 10,
  artifacts: 9,
  conversations: 8,
  assistants: 7,
  projects: 6,
  workspaces: 5,
  mcp: 5,
  catalogue: 5,
  usage: 4,
  accounts: 3,
  settings: 2,
  audit: 1,
};
// The subfolders of a feature that has an order: one may import only those of lower rank, its handlers may import all.
const subfolderRank = { chat: { gateway: 7, run: 6, ledger: 5, log: 4, turn: 3, tools: 2, model: 1 } };
// The browser client: a folder may import only those of lower rank, never one of equal rank. Files at the top are the
// base, except the one that starts it.
const webRank = {
  locales: 0,
  base: 1,
  api: 2,
  i18n: 3,
  theme: 4,
  conversation: 5,
  forms: 6,
  docs: 6,
  instructions: 7,
  rules: 7,
  layout: 8,
  diagram: 9,
  'import-export': 9,
  rendered: 9,
  'sign-in': 9,
  catalogue: 9,
  operation: 9,
  markdown: 10,
  mcp: 10,
  'web-search': 10,
  agent: 10,
  files: 11,
  usage: 12,
  context: 12,
  projects: 12,
  workspace: 12,
  chat: 13,
  setup: 13,
  settings: 13,
  admin: 14,
  assistants: 14,
  skills: 15,
  tokens: 15,
  shares: 15,
  router: 16,
  start: 17,
};
const webStart = new Set(['app.tsx', 'main.tsx', 'trusted-types.ts']);
// The platform imports no features. A folder of it may import only those of lower rank.
const platformRank = { http: 6, tracing: 5, secrets: 5, db: 4, sandbox: 4, config: 3, egress: 2, platform: 1 };
const banned = /^(index|utils|helpers|types)\.(ts|tsx|mjs|js)$/;
const directNetwork = new Set([
  'node:http',
  'node:https',
  'node:http2',
  'node:net',
  'node:tls',
  'http',
  'https',
  'net',
  'tls',
]);
// The connections of a workspace, where its sandbox is the guard: the command-line tool's to the control plane, the
// daemon's to the control plane's proxy and to the workspace's own ports.
const workspaceConnections = new Set([
  'workspace/src/cli/control-plane.ts',
  'workspace/src/daemon/egress-bridge.ts',
  'workspace/src/daemon/models-bridge.ts',
  'workspace/src/daemon/ports/requests.ts',
]);
// These timers keep no process alive and tests can advance them, so other files may not create timers.
const clocks = new Set(['server/src/platform/clock.ts', 'workspace/src/clock.ts']);
const ownTimer =
  /(?<![\w.$#])set(?:Timeout|Interval)\b|\bglobalThis\s*\.\s*set(?:Timeout|Interval)\b|\bperformance\s*\.\s*now\b/;
// `process.exit` can wait forever for threads, so other files may not call it.
const endings = new Set(['server/src/platform/end-process.ts', 'workspace/src/end-process.ts']);
const clientNames = /(^|[{,\s])(request|get|connect|createConnection|Agent|\*)(?=[\s,}]|$)/;

/** Checks the tree below `root`; returns `[{file, line, rule, message}]`, empty if there are no violations. */
export function checkImportRules(root) {
  const files = listFiles(root).filter((file) => code.test(file) && workspaceOf(file) !== undefined);
  const known = new Set(files);
  const problems = [];
  const graph = new Map();
  for (const file of files) {
    const text = readSource(root, file);
    const imports = listImports(text).map((item) => ({ ...item, target: resolveImport(file, item.specifier, known) }));
    const report = (rule, line, message) => problems.push({ file, line, rule, message });
    checkNames(file, text, report);
    checkBans(file, text, imports, report);
    for (const item of imports) checkImport(file, item, (rule, message) => report(rule, item.line, message));
    graph.set(
      file,
      imports.filter((item) => !item.typeOnly && known.has(item.target)).map((item) => item.target),
    );
  }
  for (const cycle of findCycles(graph)) {
    problems.push({ file: cycle[0], line: 1, rule: 'no-cycles', message: cycle.join(' -> ') });
  }
  return problems;
}

function workspaceOf(file) {
  return /^(contracts|server|workspace|web|acceptance)\//.exec(file)?.[1];
}

/** Tests, fakes and tools are exempt from the bans, but not from the layers between npm workspaces. */
function isTest(file) {
  return test.test(file) || /^(?:contracts|server|workspace)\/test\//.test(file) || file.startsWith('acceptance/');
}

function checkNames(file, text, report) {
  const parts = file.split('/');
  if (banned.test(parts.at(-1)) || parts.includes('helpers') || parts.includes('utils')) {
    report('file-names', 1, 'name the file after its content, not index, utils, helpers or types');
  }
  if (/\.(config|d)\.(ts|mjs|js)$/.test(file)) return;
  const stripped = withoutCommentsAndStrings(text);
  const match = /(^|[;\n}])\s*export\s+default\b|export\s*\{[^}]*\bas\s+default\b/.exec(stripped);
  if (match) report('named-exports', lineOf(stripped, match.index), 'use a named export');
}

function checkBans(file, text, imports, report) {
  if (isTest(file) || !/^(server|workspace|contracts|web)\/src\//.test(file)) return;
  const inEgress = file.startsWith('server/src/egress/');
  // The documentation is a site of its own, which loads its index and calls no endpoint.
  const inWebDoor = /^web\/src\/(api(\.ts|-[\w-]+\.ts|\/.*)|docs\/site\.ts)$/.test(file);
  const stripped = withoutCommentsAndStrings(text);
  const fetching = /(?<![.\w$#])fetch\s*\(|\b(?:globalThis|window|self)\.fetch\b/.exec(stripped);
  if (fetching && !inEgress && !inWebDoor && !isDeclaration(stripped, fetching.index)) {
    report(
      'one-way-out',
      lineOf(stripped, fetching.index),
      'fetch only in server/src/egress, in the browser in web/src/api',
    );
  }
  const environment = /\bprocess\s*\.\s*env\b/.exec(stripped);
  if (environment && !/^(server\/src\/config|workspace\/src\/\w+)\/config\.ts$/.test(file)) {
    report('one-configuration', lineOf(stripped, environment.index), 'process.env is read in config.ts only');
  }
  const timer = /^(server|workspace)\//.test(file) && !clocks.has(file) ? ownTimer.exec(stripped) : null;
  if (timer) report('one-clock', lineOf(stripped, timer.index), 'time comes from the clock (clock.ts)');
  const exit = endings.has(file) ? null : /\bprocess\s*\.\s*(?:exit|reallyExit)\b/.exec(stripped);
  if (exit) report('one-ending', lineOf(stripped, exit.index), 'process.exit can hang: use endProcess');
  for (const { specifier, names, typeOnly, line } of imports) {
    if (typeOnly || inEgress || workspaceConnections.has(file)) continue;
    const client = directNetwork.has(specifier) && (clientNames.test(names) || !names.startsWith('{'));
    if (specifier === 'undici' || client) {
      report(
        'one-way-out',
        line,
        `${specifier} opens connections: only server/src/egress may, and the doors of a workspace`,
      );
    }
  }
}

/** A method or function that is itself named fetch. */
function isDeclaration(text, index) {
  return (
    /\bfunction\s*\*?\s*$/.test(text.slice(0, index)) || /^fetch\s*\([^()]*\)\s*(:[^;{}=]+)?\{/.test(text.slice(index))
  );
}

function checkImport(file, item, report) {
  const { specifier, target, typeOnly } = item;
  const from = workspaceOf(file);
  const to = workspaceOf(target) ?? /^@homeport\/(\w+)/.exec(specifier)?.[1];
  if (to !== undefined && to !== from && (to !== 'contracts' || from === 'contracts')) {
    return report('workspaces', `${from} may import contracts only, not ${to}`);
  }
  if (from === 'contracts' && !isTest(file) && to === undefined && specifier !== 'zod') {
    return report('workspaces', `contracts imports zod only, not ${specifier}`);
  }
  if (from === 'web' && /^zod(\/|$)/.test(specifier) && !typeOnly) {
    return report('workspaces', 'web imports types of zod only: validation stays on the server');
  }
  if (file.startsWith('server/src/') && !isTest(file)) checkServerImport(file, item, report);
  if (file.startsWith('web/src/')) checkWebImport(file, target, report);
}

function checkWebImport(file, target, report) {
  const from = webPlace(file);
  if (!(from in webRank)) return report('folders', `web/src/${from} has no rank`);
  if (!target.startsWith('web/src/')) return;
  const to = webPlace(target);
  if (to !== from && !(webRank[to] < webRank[from]))
    report('layers', `${from} may import folders below it only, and ${to} is not`);
}

function webPlace(file) {
  const [folder, name] = file.slice('web/src/'.length).split('/');
  if (name !== undefined) return folder;
  return webStart.has(folder) ? 'start' : 'base';
}

function checkServerImport(file, { specifier, target, typeOnly }, report) {
  const from = placeOf(file);
  if (from.kind === 'unknown')
    return report('folders', `server/src/${from.folder} is neither a feature nor a platform folder`);
  if (from.kind === 'domain' && /^(hono|@hono\/)/.test(specifier)) {
    return report('layers', 'a domain file must not use HTTP: move that to handlers.ts');
  }
  if (!target.startsWith('server/src/')) return;
  // deps.ts only names the types of what start.ts builds.
  if ((from.folder === 'deps.ts' || from.folder === 'platform.ts') && typeOnly) return;
  // It imports the types of many features, so every file that takes one of its members would be part of a cycle.
  if (from.kind === 'domain' && target === 'server/src/deps.ts')
    return report('layers', 'a domain file takes members of Platform and names what else it needs, never Deps');
  const to = placeOf(target);
  const wrong = wrongLayer(from, to) ?? wrongSubfolder(file, target);
  if (wrong !== undefined) report('layers', wrong);
}

const entryRank = {
  'main.ts': 5,
  'start.ts': 4,
  'admin.ts': 4,
  'parser.ts': 4,
  'service.ts': 3,
  'app.ts': 2,
  'routes.ts': 1,
  'program-routes.ts': 0,
};

/** `{kind, folder}` of a file in server/src: entry, handlers, domain, platform, base or unknown. */
function placeOf(file) {
  const [folder, name] = file.slice('server/src/'.length).split('/');
  if (name === undefined) return { kind: folder in entryRank ? 'entry' : 'base', folder };
  if (folder in platformRank) return { kind: 'platform', folder };
  if (!(folder in featureRank)) return { kind: 'unknown', folder };
  return { kind: /^(.+-)?handlers\.ts$/.test(file.split('/').at(-1)) ? 'handlers' : 'domain', folder };
}

function wrongLayer(from, to) {
  if (from.kind === 'entry') {
    const upward = to.kind === 'entry' && entryRank[to.folder] >= entryRank[from.folder];
    const past = entryRank[from.folder] <= 1 && to.kind === 'domain';
    return upward || past ? `${from.folder} may not import ${to.folder}` : undefined;
  }
  if (to.kind === 'entry') return `nothing imports ${to.folder} but what starts the process`;
  const feature = from.kind === 'handlers' || from.kind === 'domain';
  if (!feature) {
    const own = platformRank[from.folder] ?? platformRank.db;
    const upward = to.folder in featureRank || (to.folder !== from.folder && platformRank[to.folder] >= own);
    return upward ? `${from.folder} lies below ${to.folder}` : undefined;
  }
  if (from.kind === 'domain' && to.folder === 'http') return 'a domain file never imports http/';
  if (to.kind === 'handlers' && from.kind === 'domain') return 'a domain file never imports handlers';
  if (to.folder === from.folder || !(to.folder in featureRank)) return undefined;
  if (to.kind === 'handlers') return 'handlers belong to their own feature';
  const downward = featureRank[to.folder] < featureRank[from.folder];
  return downward ? undefined : `${from.folder} may import features below it only, and ${to.folder} is not`;
}

/** In a feature with ordered subfolders: imports go downward only, and only its handlers are beside the subfolders. */
function wrongSubfolder(file, target) {
  const [feature, folder] = file.slice('server/src/'.length).split('/');
  const [toFeature, toFolder] = target.slice('server/src/'.length).split('/');
  const ranks = subfolderRank[feature];
  if (ranks === undefined || toFeature !== feature || toFolder === folder || !(folder in ranks)) return undefined;
  const downward = ranks[toFolder] < ranks[folder];
  return downward ? undefined : `${feature}/${folder} may import folders below it only, and ${toFolder} is not`;
}

/** Each cycle once, as the list of its files. */
function findCycles(graph) {
  const cycles = [];
  const state = new Map();
  const path = [];
  const visit = (file) => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      cycles.push([...path.slice(path.indexOf(file)), file]);
      return;
    }
    state.set(file, 'open');
    path.push(file);
    for (const next of graph.get(file) ?? []) visit(next);
    path.pop();
    state.set(file, 'done');
  };
  for (const file of graph.keys()) visit(file);
  return cycles;
}

function lineOf(text, index) {
  return text.slice(0, index + 1).split('\n').length;
}
