import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelRequest } from '../protocol.ts';
import { initialDialect } from '../provider-dialect.ts';
import { fitAbilities, learnNoPictures, learnNoTools } from './abilities.ts';

const picture = { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } };
const request: ModelRequest = {
  modelId: 'm',
  history: JSON.stringify({ role: 'user', content: [{ type: 'text', text: 'earlier' }, picture] }),
  messages: [{ role: 'user', content: [{ type: 'text', text: 'look' }, picture] }],
  tools: [{ name: 'ask', description: 'Asks', inputSchema: { type: 'object' } }],
  maxOutputTokens: 100,
};

const noTools = [
  'registry.ollama.ai/library/gemma:7b does not support tools',
  '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
  'No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs',
  'Function calling is not enabled for models/gemma-3-27b-it',
  '`tool calling` is not supported with this model',
  "This model doesn't support tool use in streaming mode.",
  'tools param requires --jinja flag',
  'Function calling is not enabled for this model',
  'deepseek-reasoner does not support Function Calling',
  '{"error":"tools are not supported by this model"}',
  'Tool calling is not supported for this model. Please remove the tools parameter.',
  'This model does not support tools.',
];
const otherTools = [
  "Invalid schema for function 'x': schema must have type 'object' and not have 'oneOf' at the top level",
  'tools.3.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12',
  "Unsupported parameter: 'tools[0].function.strict' is not supported with this model.",
  'The tool_call_id is not supported',
  'Rate limit reached. Functions of your account are limited.',
];
for (const text of noTools) {
  test(`learns that a model takes no tools from: ${text.slice(0, 60)}`, () => {
    const dialect = initialDialect('https://example.org/v1');
    assert.ok(learnNoTools(dialect, request, text));
    assert.deepEqual(fitAbilities(request, dialect).tools, []);
  });
}
for (const text of otherTools) {
  test(`keeps offering tools after: ${text.slice(0, 60)}`, () => {
    assert.ok(!learnNoTools(initialDialect('https://example.org/v1'), request, text));
  });
}

const noPictures = [
  'Invalid content type. image_url is only supported by certain models.',
  'Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text`',
  'messages[1].content must be a string',
  'm is not a multimodal model',
  'At most 0 image(s) may be provided in one request.',
  'No endpoints found that support image input',
  'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
  'this model is missing data required for image input',
  'Model does not support images. Please use a model that does.',
  'Image input is not enabled for this model',
  "This model doesn't support the image content block that you provided.",
  'Image input modality is not enabled for models/gemma-3-1b-it',
  'Image inputs are not supported by this model.',
];
for (const text of noPictures) {
  test(`learns that a model takes no pictures from: ${text.slice(0, 60)}`, () => {
    const dialect = initialDialect('https://example.org/v1');
    assert.equal(learnNoPictures(dialect, request, text), 'never');
    const fitted = fitAbilities(request, dialect);
    assert.ok(!JSON.stringify(fitted).includes('image_url'));
    assert.deepEqual(fitted.messages, [
      { role: 'user', content: 'look\n\n[A picture was left out: this model doesn’t take pictures]' },
    ]);
  });
}

test('a picture that is too large is left out of one request, and pictures stay allowed', () => {
  const dialect = initialDialect('https://example.org/v1');
  for (const text of [
    'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6 MB > 5 MB',
    'Could not process image',
    'Unsupported image format. Image dimensions are too large.',
  ])
    assert.equal(learnNoPictures(dialect, request, text), 'these');
  assert.ok(dialect.images);
});

test('sends neither tools nor pictures to a model whose facts exclude them', () => {
  const fitted = fitAbilities({ ...request, abilities: { tools: false, images: false } }, initialDialect('https://x'));
  assert.deepEqual(fitted.tools, []);
  assert.ok(!JSON.stringify(fitted).includes('image_url'));
});
