import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCompletionParser } from '../protocols/openai-events.ts';
import { completionBounds } from '../stream/provider-stream.ts';

const sink = { text() {}, reasoning() {}, toolStart() {}, toolDelta() {} };

/** The state that these deltas leave, before a tool call. */
function stateOf(...deltas: object[]): unknown {
  const parser = createCompletionParser(sink, () => 'new', completionBounds);
  for (const delta of deltas) parser.feed(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
  parser.feed('data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n');
  return parser.end()?.stepState;
}
const call = (more: object = {}) => ({
  tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' }, ...more }],
});

const cases: [string, object[], unknown][] = [
  ['no state', [{ content: 'Looking.' }, call()], undefined],
  ['state without a call', [{ reasoning_content: 'Hm.' }, { content: 'Yes' }], undefined],
  [
    'reasoning_content',
    [{ reasoning_content: 'I ' }, { reasoning_content: 'look.' }, call()],
    [{ members: { reasoning_content: 'I look.' }, calls: [null] }],
  ],
  ['reasoning', [{ reasoning: 'I look.' }, call()], [{ members: { reasoning: 'I look.' }, calls: [null] }]],
  [
    'thinking in the content',
    [{ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }, call()],
    [{ members: { thinking: 'Hm.' }, calls: [null] }],
  ],
  [
    'reasoning_details in pieces',
    [
      { reasoning: 'a', reasoning_details: [{ type: 'reasoning.text', text: 'a', format: 'f', index: 0 }] },
      {
        reasoning: 'b',
        reasoning_details: [{ type: 'reasoning.text', text: 'b', signature: 'S', format: 'f', index: 0 }],
      },
      call(),
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'AAA', id: 'c1', index: 0 }] },
    ],
    [
      {
        members: {
          reasoning: 'ab',
          reasoning_details: [
            { type: 'reasoning.text', text: 'ab', signature: 'S', format: 'f', index: 0 },
            { type: 'reasoning.encrypted', data: 'AAA', id: 'c1', index: 0 },
          ],
        },
        calls: [null],
      },
    ],
  ],
  [
    'signatures of calls',
    [call({ extra_content: { google: { thought_signature: 'S' } } })],
    [{ members: {}, calls: [{ extra_content: { google: { thought_signature: 'S' } } }] }],
  ],
  [
    'signatures of calls without ids',
    ['S1', 'S2'].map((thought_signature) => ({
      tool_calls: [
        {
          index: 0,
          id: '',
          type: 'function',
          function: { name: `look${thought_signature}`, arguments: '{}' },
          extra_content: { google: { thought_signature } },
        },
      ],
    })),
    [
      {
        members: {},
        calls: [
          { extra_content: { google: { thought_signature: 'S1' } } },
          { extra_content: { google: { thought_signature: 'S2' } } },
        ],
      },
    ],
  ],
];
for (const [name, deltas, state] of cases) {
  test(`keeps the state that a server of chat completions sends: ${name}`, () => {
    assert.deepEqual(stateOf(...deltas), state);
  });
}

test('bounds the state of an answer', () => {
  const details = Array.from({ length: 3_000 }, (_, index) => ({ type: 'reasoning.encrypted', data: 'x', index }));
  assert.ok(JSON.stringify(stateOf({ reasoning_details: details }, call())).length < 50_000);
});
