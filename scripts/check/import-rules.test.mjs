import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { checkDocumentPaths, checkFileLengths, checkLockfile } from '../text-rules.mjs';
import { checkImportRules } from './import-rules.mjs';

const made = [];
after(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A tree that follows every rule, changed by `changes` (path to text). */
function plant(changes = {}) {
  const root = mkdtempSync(join(tmpdir(), 'homeport-rules-'));
  made.push(root);
  const files = {
    'contracts/src/errors.ts':
      "import { z } from 'zod';\nexport class ApiError extends Error {}\nexport const s = z;\n",
    'server/src/main.ts':
      "import { app } from './app.ts';\nimport { createServer } from 'node:http';\napp; createServer;\n",
    'server/src/app.ts': "import { routes } from './routes.ts';\nexport const app = routes;\n",
    'server/src/routes.ts': "import { getChats } from './chat/handlers.ts';\nexport const routes = [getChats];\n",
    'server/src/config/config.ts': 'export const config = process.env;\n',
    'server/src/deps.ts': "import type { Egress } from './egress/egress.ts';\nexport type Deps = { egress: Egress };\n",
    'server/src/http/sse.ts': "import { ApiError } from '@homeport/contracts/errors';\nexport const sse = ApiError;\n",
    'server/src/db/pool.ts': "import { Socket } from 'node:net';\nexport const pool = Socket;\n",
    'server/src/egress/egress.ts':
      "import { fetch } from 'undici';\nexport type Egress = { x: 1 };\nawait fetch('x');\n",
    'server/src/chat/handlers.ts':
      "import { sse } from '../http/sse.ts';\nimport { turn } from './turn.ts';\nimport { Hono } from 'hono';\nexport const getChats = [sse, turn, Hono];\n",
    'server/src/chat/turn.ts':
      "// fetch('x') and process.env in a comment, and 'import x from \"hono\"'\nimport { model } from '../catalogue/models.ts';\nexport const turn = [model, 'fetch(1)'];\n",
    'server/src/catalogue/models.ts':
      "import { pool } from '../db/pool.ts';\nexport const model = (egress) => egress.fetch(pool);\n",
    'server/src/chat/turn.test.ts':
      "import { createServer } from 'node:http';\nawait fetch(process.env.X); createServer;\n",
    'workspace/src/cli/control-plane.ts':
      "import { request } from 'node:http';\nawait import('node:https');\nexport const send = request;\n",
    'workspace/src/daemon/egress-bridge.ts':
      "import { connect, createServer } from 'node:net';\nexport const bridge = [connect, createServer];\n",
    'workspace/src/cli/config.ts': 'export const config = process.env;\n',
    'web/src/api/api.ts':
      "import type { z } from 'zod';\nimport { ApiError } from '@homeport/contracts/errors';\nexport type X = z;\nawait fetch(ApiError);\n",
    'web/vite.config.ts': 'export default {};\n',
    'acceptance/health.test.ts': "import { ApiError } from '@homeport/contracts/errors';\nApiError;\n",
    ...changes,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

function rules(changes) {
  return checkImportRules(plant(changes)).map(({ file, rule }) => `${rule} ${file}`);
}

test('accepts a tree that follows the rules', () => {
  assert.deepEqual(checkImportRules(plant()), []);
});

describe('one planted violation is reported for', () => {
  const turn = (code) => ({ 'server/src/chat/turn.ts': `${code}\nexport const turn = 1;\n` });
  const cases = [
    [
      'a feature above',
      'layers server/src/catalogue/models.ts',
      {
        'server/src/catalogue/models.ts': "import type { turn } from '../chat/turn.ts';\nexport type model = turn;\n",
      },
    ],
    [
      'a feature beside',
      'layers server/src/mcp/a.ts',
      {
        'server/src/mcp/a.ts': "import { model } from '../catalogue/models.ts';\nexport const a = model;\n",
      },
    ],
    [
      'handlers of another feature',
      'layers server/src/chat/handlers.ts',
      {
        'server/src/catalogue/handlers.ts': 'export const h = 1;\n',
        'server/src/chat/handlers.ts': "import { h } from '../catalogue/handlers.ts';\nexport const getChats = h;\n",
      },
    ],
    [
      'a feature in the platform',
      'layers server/src/db/pool.ts',
      {
        'server/src/db/pool.ts': "import { s } from '../settings/s.ts';\nexport const pool = s;\n",
        'server/src/settings/s.ts': 'export const s = 1;\n',
      },
    ],
    ['http in a domain file', 'layers server/src/chat/turn.ts', turn("import { sse } from '../http/sse.ts';\nsse;")],
    [
      'all of Deps in a domain file',
      'layers server/src/chat/turn.ts',
      turn("import type { Deps } from '../deps.ts';\nexport type Needs = Pick<Deps, 'egress'>;"),
    ],
    [
      'Hono in a domain file',
      'layers server/src/chat/turn.ts',
      turn("import type { Context } from 'hono';\nlet c: Context; c;"),
    ],
    [
      'a verb in routes',
      'layers server/src/routes.ts',
      {
        'server/src/routes.ts': "import { turn } from './chat/turn.ts';\nexport const routes = turn;\n",
      },
    ],
    [
      'app in a feature',
      'layers server/src/chat/turn.ts',
      turn("import type { app } from '../app.ts';\nlet a: app; a;"),
    ],
    [
      'an unknown folder',
      'folders server/src/plugins/a.ts',
      {
        'server/src/plugins/a.ts': "import { pool } from '../db/pool.ts';\nexport const a = pool;\n",
      },
    ],
    [
      'a cycle',
      'no-cycles server/src/chat/a.ts',
      {
        'server/src/chat/a.ts': "import { b } from './b.ts';\nexport const a = b;\n",
        'server/src/chat/b.ts': "import {\n  a,\n} from './a.ts';\nexport const b = a;\n",
      },
    ],
    ['a timer of its own', 'one-clock server/src/chat/turn.ts', turn('setTimeout(() => {}, 1);')],
    [
      'a borrowed timer',
      'one-clock server/src/chat/turn.ts',
      turn("import { setTimeout as delay } from 'node:timers/promises';\ndelay;"),
    ],
    ['a duration of its own', 'one-clock server/src/chat/turn.ts', turn('performance.now();')],
    ['an ending of its own', 'one-ending server/src/chat/turn.ts', turn('process.exit(1);')],
    ['fetch', 'one-way-out server/src/chat/turn.ts', turn("await fetch('http://x');")],
    ['globalThis.fetch', 'one-way-out server/src/chat/turn.ts', turn('globalThis.fetch;')],
    ['undici', 'one-way-out server/src/chat/turn.ts', turn("import { Agent } from 'undici';\nAgent;")],
    ['a dynamic import of undici', 'one-way-out server/src/chat/turn.ts', turn("await import('undici');")],
    ['an HTTP client', 'one-way-out server/src/chat/turn.ts', turn("import { request } from 'node:http';\nrequest;")],
    [
      'a namespace of node:https',
      'one-way-out server/src/chat/turn.ts',
      turn("import * as https from 'node:https';\nhttps;"),
    ],
    ['a raw socket', 'one-way-out server/src/chat/turn.ts', turn("import { connect } from 'node:net';\nconnect;")],
    [
      'an HTTP client of the tool outside its door',
      'one-way-out workspace/src/cli/artifacts.ts',
      { 'workspace/src/cli/artifacts.ts': "import { request } from 'node:http';\nexport const a = request;\n" },
    ],
    [
      'a socket of the daemon outside its bridge',
      'one-way-out workspace/src/daemon/files/read.ts',
      { 'workspace/src/daemon/files/read.ts': "import { connect } from 'node:net';\nexport const a = connect;\n" },
    ],
    [
      'fetch in the door of the tool',
      'one-way-out workspace/src/cli/control-plane.ts',
      { 'workspace/src/cli/control-plane.ts': "export const send = () => fetch('http://x');\n" },
    ],
    [
      'process.env in the tool',
      'one-configuration workspace/src/cli/main.ts',
      { 'workspace/src/cli/main.ts': 'export const a = process.env.HOMEPORT_URL;\n' },
    ],
    ['process.env', 'one-configuration server/src/chat/turn.ts', turn('process.env.HOME;')],
    [
      'fetch in the browser outside its door',
      'one-way-out web/src/chat/view.tsx',
      {
        'web/src/chat/view.tsx': "export const view = () => fetch('/api/me');\n",
      },
    ],
    [
      'a folder above in the browser',
      'layers web/src/layout/sidebar/sidebar.tsx',
      {
        'web/src/layout/sidebar/sidebar.tsx':
          "import type { View } from '../../chat/view.ts';\nexport type A = View;\n",
      },
    ],
    [
      'a folder beside in the browser',
      'layers web/src/projects/page.tsx',
      { 'web/src/projects/page.tsx': "export const page = () => import('../workspace/panel.tsx');\n" },
    ],
    [
      'a feature in the base of the browser',
      'layers web/src/api/api.ts',
      { 'web/src/api/api.ts': "import '../layout/dialogs/dialogs.css';\nexport const api = 1;\n" },
    ],
    [
      'a folder without a rank in the browser',
      'folders web/src/widgets/a.tsx',
      { 'web/src/widgets/a.tsx': "import { call } from '../api.ts';\nexport const a = call;\n" },
    ],
    [
      'server code in the browser',
      'workspaces web/src/api/api.ts',
      {
        'web/src/api/api.ts': "import type { Deps } from '../../../server/src/deps.ts';\nexport type X = Deps;\n",
      },
    ],
    [
      'zod at run time in the browser',
      'workspaces web/src/api/api.ts',
      {
        'web/src/api/api.ts': "import { z } from 'zod';\nexport const x = z;\n",
      },
    ],
    [
      'a library in contracts',
      'workspaces contracts/src/errors.ts',
      {
        'contracts/src/errors.ts': "import { Hono } from 'hono';\nexport const ApiError = Hono;\n",
      },
    ],
    [
      'the server in contracts',
      'workspaces contracts/src/errors.ts',
      {
        'contracts/src/errors.ts':
          "import type { Deps } from '../../server/src/deps.ts';\nexport type ApiError = Deps;\n",
      },
    ],
    [
      'the server in acceptance',
      'workspaces acceptance/health.test.ts',
      {
        'acceptance/health.test.ts': "import { app } from '../server/src/app.ts';\napp;\n",
      },
    ],
    [
      'the server in the workspace',
      'workspaces workspace/src/daemon/main.ts',
      {
        'workspace/src/daemon/main.ts': "import { pool } from '@homeport/server/db';\npool;\n",
      },
    ],
    [
      'a barrel',
      'file-names server/src/chat/index.ts',
      { 'server/src/chat/index.ts': "export { turn } from './turn.ts';\n" },
    ],
    ['utils', 'file-names web/src/utils.ts', { 'web/src/utils.ts': 'export const a = 1;\n' }],
    ['types', 'file-names server/src/chat/types.ts', { 'server/src/chat/types.ts': 'export type A = 1;\n' }],
    ['a helpers folder', 'file-names web/src/helpers/a.ts', { 'web/src/helpers/a.ts': 'export const a = 1;\n' }],
    ['a default export', 'named-exports server/src/chat/turn.ts', { 'server/src/chat/turn.ts': 'export default 1;\n' }],
  ];
  for (const [name, expected, changes] of cases) {
    test(name, () => assert.deepEqual(rules(changes), [expected]));
  }
});

test('fails files over 500 lines and lists those over 400', () => {
  const root = plant({ 'server/src/chat/a.ts': '\n'.repeat(501), 'server/src/chat/b.ts': '\n'.repeat(401) });
  const { problems, warnings } = checkFileLengths(root);
  assert.deepEqual(
    problems.map(({ file }) => file),
    ['server/src/chat/a.ts'],
  );
  assert.deepEqual(
    warnings.map(({ file }) => file),
    ['server/src/chat/b.ts'],
  );
});

test('reports missing paths in documents', () => {
  const root = plant({
    'README.md':
      'See `server/src/app.ts`, `server/src/gone.ts`, `text/plain`, [more](docs/none.md) and [web](https://example.org/a).\n',
    'docs/a.md': 'Up to [the readme](../README.md), `contracts/src/`, `server/src/<feature>/handlers.ts`.\n',
  });
  assert.deepEqual(
    checkDocumentPaths(root).map(({ message }) => message),
    ['server/src/gone.ts does not exist', 'docs/none.md does not exist'],
  );
});

test('reports a lockfile without a required package', () => {
  const packages = {
    '': { dependencies: { a: '1.0.0' } },
    'node_modules/a': { optionalDependencies: { b: '1.0.0', c: '1.0.0' } },
    'node_modules/a/node_modules/b': {},
  };
  const root = plant({ 'package-lock.json': JSON.stringify({ packages }) });
  assert.deepEqual(
    checkLockfile(root).map(({ message }) => message),
    ['node_modules/a needs c, which is missing'],
  );
});
