import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Token } from 'marked';
import { parseBlocks, StreamingBlocks } from './parser/blocks.ts';
import { headingLevels } from './parser/heading-levels.ts';
import { isSameBlock, type Placed } from './parser/same-block.ts';
import { presentable } from './presentable.ts';

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const longest = 40_000;
const documents = globSync('{*,@*/*}/{README,readme,CHANGELOG}.md', { cwd: modules })
  .sort()
  .map((name) => ({ name, text: readFileSync(path.join(modules, name), 'utf8').replaceAll(/\r\n?/g, '\n') }))
  .filter(({ text }) => text.length > 500 && text.length < longest)
  .slice(0, 200);

test('shows 200 streamed documents of packages as the same documents at once', () => {
  assert.equal(documents.length, 200);
  for (const { name, text } of documents) {
    const growing = new StreamingBlocks();
    let shown: Placed[] = [];
    for (let end = 0, step = 0; end < text.length; step += 1) {
      end += 1 + ((step * 7_919) % 97);
      shown = nextShown(shown, presentable(growing.update(text.slice(0, end), false), true));
    }
    shown = nextShown(shown, presentable(growing.update(text, true), false));
    const whole = parseBlocks(text).tokens;
    assert.deepEqual(shown, nextShown([], whole), name);
    assert.equal(letters(whole.map(({ raw }) => raw).join('')), letters(text), name);
  }
});

/** The blocks of the next frame: the page keeps those that look as before. */
function nextShown(shown: readonly Placed[], tokens: readonly Token[]): Placed[] {
  const levels = headingLevels(tokens);
  return tokens.map((token, index) => {
    const next = { token, level: levels[index] };
    const before = shown[index];
    return before && isSameBlock(before, next) ? before : next;
  });
}

function letters(text: string): string {
  return text.replaceAll(/\s+/g, '');
}
