import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { contrast } from './brand-color.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

/** Custom properties of the first block of a selector. */
function propertiesOf(css: string, selector: string): Map<string, string> {
  const from = css.indexOf(`${selector} {`);
  const block = css.slice(from, css.indexOf('}', from));
  return new Map(
    [...block.matchAll(/(--[a-z-]+): (#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [name, value]),
  );
}

for (const [scheme, selector] of [
  ['light', ':root'],
  ['dark', '[data-mantine-color-scheme="dark"]'],
] as const) {
  test(`outlines and off switches keep 3:1 on every surface, ${scheme}`, () => {
    const properties = propertiesOf(read('./styles.css'), selector);
    const line = properties.get('--line-strong') ?? '';
    const surfaces = [...properties].filter(([name]) =>
      /^--surface(-side|-raised|-soft|-hover|-danger|-warning)?$/.test(name),
    );
    assert.ok(surfaces.length >= 7);
    for (const [name, surface] of surfaces)
      assert.ok(contrast(line, surface) >= 3, `${name}: ${contrast(line, surface)}`);
  });
}

test('off switches are drawn in the color of outlines', () => {
  assert.match(
    read('../forms/switch.css'),
    /:not\(:checked\) \+ \.mantine-Switch-track \{\s+--switch-bg: var\(--line-strong\);/,
  );
});
