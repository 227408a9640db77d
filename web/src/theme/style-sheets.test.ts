import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/** Style sheets of Mantine's components that the first page load does without. */
const sheets: [sheet: string, components: RegExp][] = [
  ['forms.css', /\b(?:TextInput|NativeSelect|Textarea|NumberInput|PasswordInput)\b/],
  ['switch.css', /\b(?:Switch|Checkbox|Radio)\b/],
  ['dialogs.css', /\b(?:Modal|Drawer)\b/],
  ['progress.css', /\bProgress\b/],
];

const folder = join(import.meta.dirname, '..');

test('every file imports the style sheets of the components that it uses', () => {
  const missing = globSync('**/*.tsx', { cwd: folder }).flatMap((file) => {
    const source = readFileSync(join(folder, file), 'utf8');
    const names = /import \{([^}]*)\} from '@mantine\/core'/.exec(source)?.[1]?.replace(/type \w+/g, '') ?? '';
    return sheets
      .filter(([sheet, components]) => components.test(names) && !source.includes(`/${sheet}';`))
      .map(([sheet]) => `${file}: ${sheet}`);
  });
  assert.deepEqual(missing, []);
});
