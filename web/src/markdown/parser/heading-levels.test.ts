import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBlocks } from './blocks.ts';
import { headingLevels } from './heading-levels.ts';

const levels = (text: string) => headingLevels(parseBlocks(text).tokens).filter((level) => level !== undefined);

test('headings begin at 3 and never skip a level downwards', () => {
  assert.deepEqual(levels('## A\n\n#### B\n\n### C\n\n## D\n\n# E\n\n###### F'), [3, 4, 4, 3, 3, 4]);
  assert.deepEqual(levels('# A\n## B\n### C\n#### D\n##### E\n###### F'), [3, 4, 5, 6, 6, 6]);
});
