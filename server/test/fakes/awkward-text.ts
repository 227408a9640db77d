import type { FakeStep } from './provider-scripts.ts';

/** Text that is easily torn: several bytes, several UTF-16 units or several code points to a character. */
const awkward = [
  'Grüße ',
  '👩‍👩‍👧‍👦',
  ' 日本語の文',
  '🏳️‍🌈 ',
  'e\u0301a\u0308',
  '\n\n- **列** ',
  '🇫🇷🇯🇵',
  ' עברית ',
  '𝔘𝔫𝔦',
  'a\u200db\u00ad ',
  '\ud83e',
  '\udd84 half pairs ',
  'data: [DONE]\n\nid: 1\n',
  '"\\u0041" </script> ',
];

/** `count` pieces, `rate` a second; every third event is sent in two writes, torn within a character where it has one. */
export function awkwardSteps(count: number, rate: number): FakeStep[] {
  const waitMs = rate === 0 ? 0 : 1000 / rate;
  return Array.from({ length: count }, (_, index) => pieceSteps(index, waitMs)).flat();
}

function pieceSteps(index: number, waitMs: number): FakeStep[] {
  const content = `${awkward[index % awkward.length]}${index % 7 === 0 ? index : ''}`;
  // Half a pair is escaped by JSON, as real servers do.
  const bytes = Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
  const pause: FakeStep[] = waitMs === 0 ? [] : [{ wait: waitMs }];
  if (index % 3 !== 0) return [{ raw: bytes }, ...pause];
  const within = bytes.findIndex((byte) => byte >= 0x80) + 1;
  const at = within > 0 ? within : bytes.length >> 1;
  return [{ raw: bytes.subarray(0, at) }, { wait: 2 }, { raw: bytes.subarray(at) }, ...pause];
}
