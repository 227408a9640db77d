import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminCommand, answerTo } from './command-line.ts';

test('arguments that ask for something else than a start', () => {
  assert.equal(answerTo([], '1.2.3'), undefined);
  assert.equal(answerTo(['--welcome'], '1.2.3'), undefined);
  assert.deepEqual(answerTo(['--welcome', '--version'], '1.2.3'), { text: '1.2.3\n', code: 0 });
  for (const arg of ['--help', '-h', 'help']) {
    const answer = answerTo([arg], '1.2.3');
    assert.match(answer?.text ?? '', /^Usage: homeport /);
    assert.equal(answer?.code, 0);
  }
  const unknown = answerTo(['--prot', '80'], '1.2.3');
  assert.match(unknown?.text ?? '', /^Homeport takes no argument "--prot"\.\n\nUsage:/);
  assert.equal(unknown?.code, 2);
});

test('in a clone, the operator’s commands are npm’s', () => {
  assert.equal(adminCommand, 'npm run admin --');
});
