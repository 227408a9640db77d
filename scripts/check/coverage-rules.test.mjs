import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkRows, namePatterns, readRows } from './coverage-rules.mjs';

const source = [
  "test('it\\'s here', () => {});",
  `test(\`\${name}: 400 that names \${path}\`, () => {});`,
  "test('a {brace} (x)', f);",
].join('\n');
const names = (file) => (file === 'a.test.ts' ? namePatterns(source) : undefined);
const page = (...rows) => ['## Endpoints', '| Endpoint | Proved by |', '|---|---|', ...rows].join('\n');
const problemsOf = (rows, wanted = {}) => checkRows(readRows(page(...rows)), wanted, names);

test('accepts a row with an existing test, templates included', () => {
  const rows = [
    '| one | `a.test.ts` "it\'s here" |',
    '| two | `a.test.ts` "x: 400 that names a.b", `a.test.ts` "a {brace} (x)" |',
  ];
  assert.deepEqual(problemsOf(rows), { problems: [], open: 0 });
});

test('reports a row without a test, with a missing test, or with a missing file', () => {
  const rows = ['| one | somewhere |', '| two | `a.test.ts` "gone" |', '| three | `b.test.ts` "it\'s here" |'];
  const { problems } = problemsOf(rows);
  assert.deepEqual(
    problems.map(({ line, message }) => [line, message]),
    [
      [4, '"one" has no test'],
      [5, 'a.test.ts has no test "gone"'],
      [6, 'there is no b.test.ts'],
    ],
  );
});

test('counts open rows separately', () => {
  assert.deepEqual(problemsOf(['| one | open: issue of workspaces |']), { problems: [], open: 1 });
});

test('reports an endpoint without a row, and a row without an endpoint', () => {
  const { problems } = problemsOf(['| `GET /a` | `a.test.ts` "it\'s here" |'], { Endpoints: ['GET /b'] });
  assert.deepEqual(
    problems.map(({ message }) => message),
    ['Endpoints: no row for GET /b', 'Endpoints: GET /a does not exist'],
  );
});
