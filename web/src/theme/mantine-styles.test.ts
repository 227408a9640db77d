import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/** Mantine's styles are imported per component by hand; a component with a missing import is unstyled. */

const styles = join(import.meta.dirname, '../../../node_modules/@mantine/core/styles');
/** Their controls, which these styles are for, are hidden. */
const bare = new Set(['NumberInput']);

test('imports the styles of every Mantine component in use', () => {
  const root = join(import.meta.dirname, '..');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => /\.(tsx?|css)$/.test(file));
  const texts = sources.map((file) => readFileSync(join(root, file), 'utf8'));
  const used = texts.flatMap((text) =>
    [...text.matchAll(/import \{([^}]*)\} from '@mantine\/core'/g)].flatMap(([, names = '']) =>
      names.split(',').map((name) => name.trim()),
    ),
  );
  const styled = new Set(
    texts.flatMap((text) => [...text.matchAll(/styles\/(\w+)\.layer\.css/g)].map(([, name]) => name)),
  );
  const hasStyles = (name: string): boolean => /^[A-Z]/.test(name) && existsSync(join(styles, `${name}.layer.css`));
  assert.ok(new Set(used.filter(hasStyles)).size > 5);
  assert.deepEqual(
    [...new Set(used)].filter((name) => hasStyles(name) && !styled.has(name) && !bare.has(name)),
    [],
  );
});
