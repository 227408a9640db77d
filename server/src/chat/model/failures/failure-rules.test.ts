import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFailureFacts } from './failure-facts.ts';
import { judgeFailure } from './failure-rules.ts';

const openai = (message: string, code: string | null = null, type = 'invalid_request_error', param?: string) =>
  JSON.stringify({ error: { message, type, param: param ?? null, code } });
const anthropic = (type: string, message: string) => JSON.stringify({ type: 'error', error: { type, message } });
const google = (code: number, status: string, message: string, details: unknown[] = []) =>
  JSON.stringify([{ error: { code, message, status, details } }]);
const plain = (error: unknown) => JSON.stringify(error);

/** Published wordings of real servers: status, body, reason, and a narrower problem or a parameter. */
const wordings: [status: number, body: string, reason: string, narrower?: string][] = [
  // Quota of the account
  [
    429,
    openai(
      'You exceeded your current quota, please check your plan and billing details.',
      'insufficient_quota',
      'insufficient_quota',
    ),
    'quota',
  ],
  [400, openai('Billing hard limit has been reached', 'billing_hard_limit_reached'), 'quota'],
  [
    401,
    openai('You exceeded your current quota, please check your plan and billing details', null, 'insufficient_quota'),
    'quota',
  ],
  [
    400,
    anthropic(
      'invalid_request_error',
      'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
    ),
    'quota',
    '2026-12-01T00:00:00.000Z',
  ],
  [
    429,
    google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.', [
      {
        '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
        violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }],
      },
    ]),
    'quota',
  ],
  [
    429,
    plain({
      error: {
        message: 'Your account org-1 <ak-1> is suspended, please check your plan',
        type: 'exceeded_current_quota_error',
      },
    }),
    'quota',
  ],
  [
    429,
    plain({
      code: 'Throttling.AllocationQuota',
      message: 'Allocated quota exceeded, please increase your quota limit.',
    }),
    'quota',
  ],
  [
    403,
    plain({ code: 'AllocationQuota.FreeTierOnly', message: 'The free tier of the model has been exhausted.' }),
    'quota',
  ],
  [429, plain({ message: 'You are using a Trial key, which is limited to 1000 API calls / month.' }), 'quota'],
  [400, openai('Budget has been exceeded! Current cost: 5.1, Max budget: 5.0', '400', 'budget_exceeded'), 'quota'],
  [
    429,
    plain({
      message: 'Tokens per day limit exceeded - too many tokens processed.',
      type: 'too_many_tokens_error',
      code: 'token_quota_exceeded',
    }),
    'quota',
  ],
  [412, openai('Account suspended, possibly due to reaching the monthly spending limit'), 'quota'],
  // Credit
  [
    400,
    anthropic(
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    ),
    'credit',
  ],
  [402, openai('Insufficient Balance', 'invalid_request_error', 'unknown_error'), 'credit'],
  [
    402,
    plain({
      error: {
        message:
          'This request requires more credits, or fewer max_tokens. You requested up to 8192 tokens, but can only afford 4000.',
        code: 402,
      },
    }),
    'credit',
  ],
  [
    403,
    plain({
      code: 'The caller does not have permission',
      error:
        'Your newly created team doesn’t have any credits yet. Your team has either used all available credits or reached its monthly spending limit.',
    }),
    'credit',
  ],
  [403, plain({ code: 30001, message: 'Sorry, your account balance is insufficient', data: null }), 'credit'],
  [429, plain({ error: { code: '1113', message: '余额不足或无可用资源包,请充值。' } }), 'credit'],
  [
    400,
    plain({ code: 'Arrearage', message: 'Access denied, please make sure your account is in good standing.' }),
    'credit',
  ],
  [402, plain({ error: 'You have exceeded your monthly included credits for Inference Providers.' }), 'credit'],
  [
    429,
    openai(
      'Your account is not active, please check your billing details on our website.',
      'billing_not_active',
      'billing_not_active',
    ),
    'credit',
  ],
  [402, '', 'credit'],
  [402, '<html>Payment Required</html>', 'credit'],
  // Key
  [
    401,
    openai(
      'Incorrect API key provided: sk-abc***xyz. You can find your API key at https://platform.openai.com.',
      'invalid_api_key',
    ),
    'key',
  ],
  [
    400,
    google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [{ reason: 'API_KEY_INVALID' }]),
    'key',
  ],
  [400, google(400, 'INVALID_ARGUMENT', 'API key expired. Please renew the API key.'), 'key'],
  [403, google(403, 'PERMISSION_DENIED', 'Your API key was reported as leaked. Please use another API key.'), 'key'],
  [
    403,
    google(
      403,
      'PERMISSION_DENIED',
      'Method doesn’t allow unregistered callers (callers without established identity).',
    ),
    'key',
  ],
  [
    400,
    plain({
      code: 'Client specified an invalid argument',
      error: 'Incorrect API key provided: xa***. You can obtain an API key from https://console.x.ai.',
    }),
    'key',
  ],
  [401, anthropic('authentication_error', 'invalid x-api-key'), 'key'],
  [
    401,
    plain({
      error: {
        message: 'Authentication Fails, Your api key: ****da05 is invalid',
        type: 'authentication_error',
        code: 'invalid_request_error',
      },
    }),
    'key',
  ],
  [429, plain({ error: { message: 'Invalid API key' } }), 'key'],
  [401, plain({ error: { message: 'Invalid Authentication', type: 'invalid_authentication_error' } }), 'key'],
  [401, plain({ error: { message: 'No auth credentials found', code: 401 } }), 'key'],
  [
    401,
    plain({ error: { code: '401', message: 'Access denied due to invalid subscription key or wrong API endpoint.' } }),
    'key',
  ],
  [400, openai('Authentication Error, Invalid proxy server token passed.', '400', 'auth_error'), 'key'],
  [403, plain({ message: 'The security token included in the request is invalid.' }), 'key'],
  [400, plain({ code: 'InvalidApiKey', message: 'Invalid API-key provided.' }), 'key'],
  [401, 'Unauthorized', 'key'],
  // Content filter
  [
    400,
    openai(
      'The response was filtered due to the prompt triggering Azure OpenAI’s content management policy. Please modify your prompt and retry.',
      'content_filter',
    ),
    'content_filter',
  ],
  [
    400,
    plain({ error: { message: 'bad', code: 'content_filter', innererror: { code: 'ResponsibleAIPolicyViolation' } } }),
    'content_filter',
  ],
  [400, openai('Content Exists Risk'), 'content_filter'],
  [
    400,
    plain({ code: 'DataInspectionFailed', message: 'Input data may contain inappropriate content.' }),
    'content_filter',
  ],
  [
    400,
    openai('Invalid prompt: your prompt was flagged as potentially violating our usage policy.', 'invalid_prompt'),
    'content_filter',
  ],
  [400, anthropic('invalid_request_error', 'Output blocked by content filtering policy'), 'content_filter'],
  [
    403,
    plain({
      error: { code: 403, message: 'Your chosen model requires moderation and your input was flagged for "violence".' },
    }),
    'content_filter',
  ],
  [
    400,
    plain({
      error: { message: 'The request was rejected because it was considered high risk', type: 'content_filter' },
    }),
    'content_filter',
  ],
  [
    400,
    plain({ error: { code: '1301', message: '系统检测到输入或生成内容可能包含不安全或敏感内容' } }),
    'content_filter',
  ],
  // Loading
  [503, openai('Loading model', null, 'unavailable_error'), 'loading'],
  [503, plain({ error: 'Model meta-llama/Llama-2-7b is currently loading', estimated_time: 20 }), 'loading'],
  [500, plain({ error: 'llm server loading model' }), 'loading'],
  [503, plain({ detail: 'Model is not ready' }), 'loading'],
  [
    500,
    plain({ error: 'llama-server process has terminated: error loading model: failed to load model from /blobs/x' }),
    'other',
    'internal',
  ],
  // Context
  [
    400,
    openai(
      "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.",
      'context_length_exceeded',
    ),
    'context',
  ],
  [400, anthropic('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'), 'context'],
  [
    413,
    openai(
      'Request too large for model `llama-3.1-8b-instant` on tokens per minute (TPM): Limit 6000, Requested 6294, please reduce your message size and try again.',
      'rate_limit_exceeded',
      'tokens',
    ),
    'context',
  ],
  // Images and tools
  [
    400,
    openai(
      'Invalid content type. image_url is only supported by certain models.',
      null,
      'invalid_request_error',
      'messages.[0].content.[1].type',
    ),
    'images',
  ],
  [400, openai('this model does not support image input'), 'images'],
  [
    500,
    openai('image input is not supported - hint: if this is unexpected, you may need to provide the mmproj'),
    'images',
  ],
  [400, openai('Qwen3 is not a multimodal model'), 'images'],
  [404, plain({ error: { message: 'No endpoints found that support image input', code: 404 } }), 'images'],
  [
    400,
    anthropic('invalid_request_error', 'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum'),
    'images',
  ],
  [400, openai('registry.ollama.ai/library/gemma:2b does not support tools', null, 'api_error'), 'tools'],
  [404, plain({ error: { message: 'No endpoints found that support tool use.', code: 404 } }), 'tools'],
  [400, google(400, 'INVALID_ARGUMENT', 'Function calling is not enabled for models/gemma-3'), 'tools'],
  [400, openai('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'), 'tools'],
  [
    400,
    openai(
      "Invalid schema for function 'find': object schema missing properties.",
      'invalid_function_parameters',
      'invalid_request_error',
      'tools[3].function.parameters',
    ),
    'tools',
    'tools[3].function.parameters',
  ],
  // Model and protocol
  [
    404,
    openai('The model `gpt-9` does not exist or you do not have access to it.', 'model_not_found'),
    'other',
    'model',
  ],
  [400, plain({ error: { message: 'x is not a valid model ID', code: 400 } }), 'other', 'model'],
  [404, openai('model "qwen" not found, try pulling it first', null, 'api_error'), 'other', 'model'],
  [404, anthropic('not_found_error', 'model: claude-nope'), 'other', 'model'],
  [404, google(404, 'NOT_FOUND', 'models/gemini-0 is not found for API version v1beta'), 'other', 'model'],
  [400, openai('Model Not Exist'), 'other', 'model'],
  [
    404,
    plain({ error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' } }),
    'other',
    'model',
  ],
  [404, openai('This model is only supported in v1/responses and not in v1/chat/completions.'), 'protocol'],
  [404, openai('This is not a chat model and thus not supported in the v1/chat/completions endpoint.'), 'protocol'],
  [
    400,
    '<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>',
    'protocol',
    'needs_tls',
  ],
  [400, 'Client sent an HTTP request to an HTTPS server.', 'protocol', 'needs_tls'],
  [404, '404 page not found', 'other', 'address'],
  // Parameters
  [
    400,
    openai(
      "Unsupported value: 'temperature' does not support 0.2 with this model.",
      'unsupported_value',
      'invalid_request_error',
      'temperature',
    ),
    'parameter',
    'temperature',
  ],
  [400, openai('Unrecognized request argument supplied: reasoning_effort'), 'parameter', 'reasoning_effort'],
  [
    422,
    plain({
      object: 'error',
      message: { detail: [{ type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted' }] },
    }),
    'parameter',
    'seed',
  ],
  [
    400,
    openai(
      "'messages.2' : for 'role:assistant' the following must be satisfied: property 'reasoning_content' is unsupported",
    ),
    'parameter',
    'reasoning_content',
  ],
  [
    400,
    google(
      400,
      'INVALID_ARGUMENT',
      'Invalid JSON payload received. Unknown name "top_z" at "generation_config": Cannot find field.',
    ),
    'parameter',
    'top_z',
  ],
  [
    400,
    anthropic('invalid_request_error', '`temperature` may only be set to 1 when thinking is enabled.'),
    'parameter',
    'temperature',
  ],
  // Overload and limits
  [529, anthropic('overloaded_error', 'Overloaded'), 'overloaded'],
  [503, google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'), 'overloaded'],
  [
    429,
    plain({
      message: 'We’re experiencing high traffic right now!',
      type: 'too_many_requests_error',
      code: 'queue_exceeded',
    }),
    'overloaded',
  ],
  [503, 'no healthy upstream', 'overloaded'],
  [503, '', 'overloaded'],
  [
    429,
    openai(
      'Rate limit reached for gpt-4 on tokens per min (TPM): Limit 10000. Please try again in 6s.',
      'rate_limit_exceeded',
      'tokens',
    ),
    'rate_limit',
  ],
  [
    429,
    anthropic(
      'rate_limit_error',
      'This request would exceed your organization’s rate limit of 30,000 input tokens per minute.',
    ),
    'rate_limit',
  ],
  [
    429,
    google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.', [
      { violations: [{ quotaId: 'GenerateRequestsPerMinutePerProjectPerModel-FreeTier' }] },
    ]),
    'rate_limit',
  ],
  [
    429,
    plain({
      error: {
        code: '429',
        message:
          'Requests to the ChatCompletions_Create Operation under Azure OpenAI API have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 26 seconds. Please go here: https://aka.ms/oai/quotaincrease',
      },
    }),
    'rate_limit',
  ],
  [
    429,
    plain({
      error: {
        message: 'Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day',
        code: 429,
      },
    }),
    'rate_limit',
  ],
  [429, plain({ message: 'Too many tokens, please wait before trying again.' }), 'rate_limit'],
  [429, plain({ message: 'Requests rate limit exceeded' }), 'rate_limit'],
  [429, '', 'rate_limit'],
  // Without a known wording
  [400, openai('Something else is wrong here'), 'other', 'refused'],
  [403, '', 'other', 'access'],
  [404, '<html>Not Found</html>', 'other', 'address'],
  [413, '<html>413 Request Entity Too Large</html>', 'other', 'size'],
  [500, 'oops', 'other', 'internal'],
  [418, 'teapot', 'other'],
];

test('judges refusals of model servers by status and wording', () => {
  const wrong = wordings.flatMap(([status, body, reason, narrower]) => {
    const { reason: judged, values } = judgeFailure(status, readFailureFacts(body));
    const found = values.problem ?? values.retryAt ?? values.parameter;
    const isRight = judged === reason && (narrower === undefined || found === narrower);
    return isRight ? [] : [{ status, body, judged, found, reason, narrower }];
  });
  assert.deepEqual(wrong, []);
});

test('judges the message of the first provider inside a router’s response', () => {
  const raw = anthropic('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.');
  const body = plain({ error: { message: 'Provider returned error', code: 400, metadata: { raw } } });
  const facts = readFailureFacts(body);
  assert.equal(judgeFailure(400, facts).reason, 'credit');
  assert.match(facts.message, /^Your credit balance/);
});

test('ignores words of the request that a server echoes', () => {
  const body = plain({ detail: [{ loc: ['body', 'messages'], msg: 'Field odd', input: 'my invalid api key quota' }] });
  assert.equal(judgeFailure(422, readFailureFacts(body)).reason, 'parameter');
});
