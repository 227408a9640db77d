import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { checkCitations } from './citation-rules.mjs';

const root = mkdtempSync(join(tmpdir(), 'homeport-citations-'));
after(() => rmSync(root, { recursive: true, force: true }));
write('docs/spec/contract.md', '# Contract\n\n## 1. Conventions\n\n## 6. Chat\n');
write(
  'docs/spec/control-plane-api.md',
  '# API\n\n## Limits\n\n| PATCH | /api/chats | Updates. |\n\n## Rules of retries\n\n1. One.\n2. Two.\n',
);

function write(path, text) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function messages(text) {
  write('server/src/a.ts', text);
  return checkCitations(root, ['server/src/a.ts']).map(({ line, message }) => `${line}: ${message}`);
}

test('accepts citations of existing sections, also over two lines', () => {
  assert.deepEqual(
    messages(
      '/** contract.md sections 1 and 6, control-plane-api.md "Limits" */\n' +
        '/**\n * A rule (control-plane-api.md "Rules of\n * retries" 1 to 2; contract.md\n * section 6; RFC 6749, section 5.2).\n */\n' +
        '// control-plane-api.md "PATCH /api/chats"\n',
    ),
    [],
  );
});

test('reports a missing section, heading or point with its line', () => {
  assert.deepEqual(messages('\n// contract.md section 7\n'), ['2: contract.md has no section 7']);
  assert.deepEqual(messages('/**\n * contract.md sections 1 and\n * 16\n */'), ['2: contract.md has no section 16']);
  assert.deepEqual(messages('// control-plane-api.md "PATCH /api/none"'), [
    '1: control-plane-api.md has no heading or row "PATCH /api/none"',
  ]);
  assert.deepEqual(messages('// control-plane-api.md "Rules of retries" 3'), [
    '1: "Rules of retries" of control-plane-api.md has no point 3',
  ]);
});

test('reports a citation without a file', () => {
  for (const text of [
    'contract section 6',
    'Contract, section 6',
    "the contract's section 6",
    'specification "Limits"',
    'specification 5',
    'retry rule 1',
  ]) {
    assert.equal(messages(`// ${text}`).length, 1, text);
  }
});
