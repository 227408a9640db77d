import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initialDialect } from '../provider-dialect.ts';
import { isOverflow, learnLimits, readLimits, type ToldLimits } from './limits.ts';

/** A refusal, the output that was asked for, and the limits that it tells. */
type Row = [refusal: string, sent: number, told: ToldLimits | undefined];

const output: Row[] = [
  [
    'max_tokens is too large: 8192. This model supports at most 4096 completion tokens, whereas you provided 8192.',
    8192,
    { maxOutputTokens: 4096, isForGood: true },
  ],
  [
    'max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet',
    64000,
    { maxOutputTokens: 8192, isForGood: true },
  ],
  [
    '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model',
    20000,
    { maxOutputTokens: 8192, isForGood: true },
  ],
  [
    'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]',
    20000,
    { maxOutputTokens: 8192, isForGood: true },
  ],
  [
    'Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 8193 (exclusive).',
    100000,
    { maxOutputTokens: 8192, isForGood: true },
  ],
  [
    'The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.',
    20000,
    { maxOutputTokens: 4096, isForGood: true },
  ],
  [
    'This request requires more credits, or fewer max_tokens. You requested up to 64,000 tokens, but can only afford 4,000.',
    64000,
    { maxOutputTokens: 4000, isForGood: false },
  ],
  [
    "This model's maximum context length is 8192 tokens. However, you requested 10096 tokens (6000 in the messages, 4096 in the completion).",
    4096,
    { contextWindow: 8192, maxOutputTokens: 2028 },
  ],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 4096 tokens and your request has 1000 input tokens (4000 > 4096 - 1000).",
    4000,
    { contextWindow: 4096, maxOutputTokens: 3014 },
  ],
  [
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    20000,
    { contextWindow: 200000, maxOutputTokens: 6000 },
  ],
  [
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 8000 `inputs` tokens and 4096 `max_new_tokens`',
    4096,
    { contextWindow: 8193, maxOutputTokens: 29 },
  ],
];
const prompts: [refusal: string, window: number | undefined][] = [
  ["This model's maximum context length is 4096 tokens. However, your messages resulted in 6000 tokens.", 4096],
  ['prompt is too long: 210000 tokens > 200000 maximum', 200000],
  ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 1048576],
  ['Input is too long for requested model.', undefined],
  ["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131072],
  ['Input validation error: `inputs` must have less than 4095 tokens. Given: 9000', 4095],
  ['Invalid request: Your request exceeded model token limit: 131072', 131072],
  ['Prompt exceeds max length', undefined],
  ['invalid params, context window exceeds limit (2013)', undefined],
  ['<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]', 129024],
  [
    'the request exceeds the available context size. try increasing the context size or enable context shift',
    undefined,
  ],
  ['request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it', 4096],
  ['input length exceeds the context length', undefined],
  ['the model is loaded with context length of only 4096 tokens, which is not enough', 4096],
  ['too many tokens: total number of tokens in the prompt cannot exceed 128000', 128000],
  ['Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length', 32768],
  ['Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192', 8192],
  ['{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens."}', 8000],
  ["This endpoint's maximum context length is 128,000 tokens. However, you requested about 150000 tokens.", 128000],
];
const others = [
  'tools.0.custom.name: String should have at most 64 characters',
  'Rate limit reached for gpt-4o: Limit 30000, Used 29000, Requested 5000 tokens per min',
  "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
  'Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7200, please reduce your message size',
  'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
  'Invalid value for max_tokens: expected an integer',
];

for (const [refusal, sent, told] of output) {
  test(`reads the largest output in: ${refusal.slice(0, 70)}`, () => assert.deepEqual(readLimits(refusal, sent), told));
}
for (const [refusal, contextWindow] of prompts) {
  test(`reads the window in: ${refusal.slice(0, 70)}`, () => {
    assert.ok(isOverflow(refusal));
    assert.deepEqual(
      readLimits(refusal, 1_000_000)?.contextWindow ?? readLimits(refusal, 20)?.contextWindow,
      contextWindow,
    );
  });
}
for (const refusal of others) {
  test(`reads no limit in: ${refusal.slice(0, 70)}`, () => {
    assert.ok(!isOverflow(refusal));
    assert.equal(readLimits(refusal, 20_000), undefined);
  });
}

test('keeps the smallest limit that a server has told', () => {
  const dialect = initialDialect('https://example.org/v1');
  assert.ok(learnLimits(dialect, { contextWindow: 8192 }));
  assert.ok(!learnLimits(dialect, { contextWindow: 9000 }));
  assert.ok(learnLimits(dialect, { maxOutputTokens: 4096, isForGood: true }));
  assert.ok(!learnLimits(dialect, { maxOutputTokens: 100 }), 'a limit of one request is not kept');
  assert.deepEqual([dialect.contextWindow, dialect.maxOutputTokens], [8192, 4096]);
});
