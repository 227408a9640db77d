import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createThinkSplitter } from './think-tags.ts';

/** Splits a text that arrives in pieces of each length. */
function splitEachWay(content: string): { text: string; reasoning: string }[] {
  return [1, 2, 3, 5, 7, 1_000].map((length) => {
    const read = { text: '', reasoning: '' };
    const splitter = createThinkSplitter({
      text: (delta) => {
        read.text += delta;
      },
      reasoning: (delta) => {
        read.reasoning += delta;
      },
      textWasReasoning: (text) => {
        assert.equal(text, read.text);
        read.reasoning += text;
        read.text = '';
      },
    });
    for (let at = 0; at < content.length; at += length) splitter.push(content.slice(at, at + length));
    splitter.end();
    return read;
  });
}

const cases: [content: string, reasoning: string, text: string][] = [
  ['<think>\nhm\n</think>\n\nFour.', 'hm\n', 'Four.'],
  ['<thinking>hm</thinking>Four.', 'hm', 'Four.'],
  ['<thought>hm</thought> Four.', 'hm', 'Four.'],
  ['<reasoning>hm</reasoning>\nFour.', 'hm', 'Four.'],
  ['[THINK]hm[/THINK]Four.', 'hm', 'Four.'],
  [
    '<|channel|>analysis<|message|>hm 1 < 2<|end|><|start|>assistant<|channel|>final<|message|>Four.<|return|>',
    'hm 1 < 2',
    'Four.',
  ],
  ['<|channel|>final<|message|>Four.', '', 'Four.'],
  [
    '<|start|>assistant<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>4',
    'hm',
    '4',
  ],
  ['analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>1 <|x 2', 'hm', '1 <|x 2'],
  [
    '<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>analysis<|message|>hm<|end|>' +
      '<|start|>assistant<|channel|>final<|message|>Four.<|return|>',
    'hm',
    'I look.Four.',
  ],
  ['<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"a":1}<|call|>', '{"a":1}', ''],
  ['analysisWe add.assistantfinalFour.', 'analysisWe add.', 'Four.'],
  ['analysisOf(x) is a function.', '', 'analysisOf(x) is a function.'],
  ['The word assistantfinal is text.', '', 'The word assistantfinal is text.'],
  ['<seed:think>hm</seed:think>Four.', 'hm', 'Four.'],
  ['\u25c1think\u25b7hm\u25c1/think\u25b7Four.', 'hm', 'Four.'],
  ['<|channel>thought\nhm<channel|>Four.', 'hm', 'Four.'],
  ['<|START_THINKING|>hm<|END_THINKING|>Four.', 'hm', 'Four.'],
  ['<think>never closed', 'never closed', ''],
  ['Use `<think>` tags.', '', 'Use `<think>` tags.'],
  ['<thinker>is no mark', '', '<thinker>is no mark'],
  ['```\n<think>\n```', '', '```\n<think>\n```'],
  ['a < b <|end|>', '', 'a < b <|end|>'],
  ['I should add.</think>\n\nThe answer is 4.', 'I should add.', 'The answer is 4.'],
  ['I should add.\n[/THINK]Four.', 'I should add.\n', 'Four.'],
  ['Is 1 < 2 or </ 3?</thinking> Yes.', 'Is 1 < 2 or </ 3?', 'Yes.'],
  ['</think>\n\nFour.', '', 'Four.'],
  ['Only thoughts</think>', 'Only thoughts', ''],
  ['The mark `</think>` ends it.', '', 'The mark `</think>` ends it.'],
  ['```xml\nhm\n</think>\n```', '', '```xml\nhm\n</think>\n```'],
  ['It is <think>hm</think>.', '', 'It is <think>hm</think>.'],
  ['<think>a</think>b</think>c', 'a', 'b</think>c'],
  ['Four </thin', '', 'Four </thin'],
  ['Sure.\n<think>hm</think>Four.', 'hm', 'Sure.\nFour.'],
  ['Sure.\n\n<thinking>\nhm\n</thinking>\n\nFour.', 'hm\n', 'Sure.\n\n\n\nFour.'],
  ['<think>a</think>One.\n[THINK]b[/THINK]Two.\n<think>c</think>Three.', 'abc', 'One.\nTwo.\nThree.'],
  ['<think>a</think>\n<think>b</think>\nFour.', 'ab', 'Four.'],
  ['```\n<think>\n```\n<think>b</think>Four.', 'b', '```\n<think>\n```\nFour.'],
  ['```\n<think>hm</think>\n```\nFour.', '', '```\n<think>hm</think>\n```\nFour.'],
  ['I add.</think>One.\n<think>b</think>Two.', 'I add.b', 'One.\nTwo.'],
  ['Tags:\n<thought>hm</thought>', '', 'Tags:\n<thought>hm</thought>'],
];

for (const [content, reasoning, text] of cases) {
  test(`splits ${JSON.stringify(content).slice(0, 60)} however it arrives`, () => {
    for (const read of splitEachWay(content)) assert.deepEqual(read, { text, reasoning });
  });
}
