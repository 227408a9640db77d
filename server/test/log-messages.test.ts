import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const source = join(import.meta.dirname, '../src');
const call = /\blog\??\.(?:debug|info|warn|error|fatal)\(([\s\S]*?)\);/g;
const literal = /'((?:[^'\\]|\\.)+)'|`([^`]+)`/g;
/** Personified programs, dropped nouns and a passive voice that hides which step failed. */
const riddle =
  /\b(?:told|heard|hears|nobody|somebody|kept|noted|given up|looked through|of ours|worked on|expected|adopted|could not be)\b/;

function messages(): { file: string; message: string }[] {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) =>
      [...readFileSync(join(source, file), 'utf8').matchAll(call)].flatMap(([, inside = '']) =>
        [...inside.matchAll(literal)].map(([, quoted, template]) => ({ file, message: quoted ?? template ?? '' })),
      ),
    );
}

test('every log line states in plain words which step failed or happened', () => {
  const found = messages();
  assert.ok(found.length > 100, `${found.length} messages`);
  const riddles = found.filter(({ message }) => riddle.test(message));
  assert.deepEqual(riddles, []);
});
