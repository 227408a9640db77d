import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainOutput } from './plain-output.ts';

const e = '\u001b';
const cases: [given: string, shown: string][] = [
  ['\rDownloading 1/3\rDownloading 2/3\rDownloading 3/3\n', 'Downloading 3/3\n'],
  ['one\r\ntwo\r\r\n', 'one\ntwo\n'],
  ['100 %\rdone\n', 'done%\n'],
  [`100 %\r${e}[Kdone\n`, 'done\n'],
  [`${e}[2K\r 50 %${e}[2K\r100 %\n`, '100 %\n'],
  ['ab\bc\b\b\bx\n', 'xc\n'],
  [`${e}[?25lhide${e}[?25h ${e}[>4;2mx${e}[>4;m`, 'hide x'],
  [`${e}]8;;http://e.com${e}\\${e}[4mlink${e}[0m${e}]8;;${e}\\ end`, 'link end'],
  [`${e}(B${e}[m ${e}[38:2::1:2:3mcol${e}[0m ${e}P1$r0m${e}\\dcs ${e}7save${e}8 ${e}=kp${e}>`, ' col dcs save kp'],
  ['bell\u0007', 'bell'],
];

for (const [given, shown] of cases) {
  test(`shows ${JSON.stringify(given)} as a terminal does`, () => assert.equal(plainOutput(given), shown));
}

test('reads a line that is rewritten a hundred thousand times in time that grows with its length', () => {
  const started = process.threadCpuUsage().user;
  plainOutput(`${'x'.repeat(2_000)}\r`.repeat(2_000) + 'x\r'.repeat(100_000));
  assert.ok(process.threadCpuUsage().user - started < 2_000_000);
});
