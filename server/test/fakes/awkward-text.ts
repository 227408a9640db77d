import type { FakeStep } from './provider/provider-scripts.ts';

/** Text that is easily torn: several bytes, several UTF-16 units or several code points per character. */
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

/**
 * `count` pieces, `rate` a second; every third event is sent in two writes, torn within a character where it has one.
 */
export function awkwardSteps(count: number, rate: number): FakeStep[] {
  const waitMs = rate === 0 ? 0 : 1000 / rate;
  return Array.from({ length: count }, (_, index) => pieceSteps(index, waitMs)).flat();
}

function pieceSteps(index: number, waitMs: number): FakeStep[] {
  const content = `${awkward[index % awkward.length]}${index % 7 === 0 ? index : ''}`;
  const event = { choices: [{ index: 0, delta: { content } }] };
  const pause: FakeStep[] = waitMs === 0 ? [] : [{ wait: waitMs }];
  return [index % 3 === 0 ? { torn: event } : { event }, ...pause];
}
