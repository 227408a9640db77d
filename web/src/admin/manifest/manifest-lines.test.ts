import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenJsonLine, isJson, lineInMessage, lineOfPath } from './manifest-lines.ts';

const yaml = `# the installation
version: 1
branding:
  productName: Acme
users:
- email: ada@example.org
  name: Ada
  providers:
    - name: Box
      models:
        - providerModelId: a
        - { providerModelId: b, tier: 9 }
    - name: Other
- name: Grace
  'email': grace@
conversations: []
`;

test('finds the line of a path in YAML, also for items without indentation', () => {
  const cases: [string, number | undefined][] = [
    ['version', 2],
    ['branding.productName', 4],
    ['users.0', 6],
    ['users.0.name', 7],
    ['users.0.providers.0.models.1.tier', 12],
    ['users.0.providers.1.name', 13],
    ['users.1.email', 15],
    ['users.1.password', 14],
    ['conversations', 16],
    ['unknown', undefined],
    ['', undefined],
  ];
  for (const [path, line] of cases) assert.equal(lineOfPath(yaml, path), line, path);
});

test('finds the line of a path in JSON, past nested values and escaped quotes', () => {
  const json = `{
  "version": 1,
  "users": [
    { "email": "a\\"}@example.org", "providers": [{ "name": "x" }, [1, 2]] },
    {
      "name": "Grace",
      "email": 7
    }
  ]
}`;
  assert.equal(isJson(json), true);
  const cases: [string, number][] = [
    ['version', 2],
    ['users.0.email', 4],
    ['users.1', 5],
    ['users.1.email', 7],
    ['users.1.password', 5],
    ['users.2', 3],
  ];
  for (const [path, line] of cases) assert.equal(lineOfPath(json, path), line, path);
});

test('reports the line of a JSON syntax error', () => {
  const cases: [string, number | undefined][] = [
    ['{"a": [1, {}, []], "b": "\\u00e9"}', undefined],
    ['{\n"a": 1,\n"b": x\n}', 3],
    ['{\n"a": 1', 2],
    ['{\n"a": 1,\n}', 3],
    ['{\n"a": [1\n2]}', 3],
    ['[1]\n\n]', 3],
    ['{\n"a": "line\nbreak"}', 2],
  ];
  for (const [text, line] of cases) assert.equal(brokenJsonLine(text), line, text);
  assert.equal(lineInMessage('Not valid YAML: bad indentation, line 12, column 3'), 12);
  assert.equal(lineInMessage('Not valid'), undefined);
});
