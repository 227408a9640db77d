import {
  alternatingRoles,
  answeredCalls,
  assistantMembers,
  bodyMembers,
  callIds,
  detailsInCalls,
  maxTools,
  noPictures,
  noSystemRole,
  noTools,
  noUserAfterTool,
  openAiFault,
  type Rule,
  reasoningInCalls,
  signedCalls,
  textContent,
  toolSchemas,
  toolsWithSteps,
  typedFault,
  uniqueIds,
  voices,
} from './strict-rules.ts';
import type { StrictStyle } from './strict-server.ts';

/** The rules of real servers, from their documentation and from refusals in public reports. */

export type StrictKind = { name: string; modelId: string; rules: Rule[]; style: StrictStyle; hasNoTools?: true };

const standard = ['role', 'content', 'tool_calls', 'name', 'refusal'];
const { openai, mistral, google, openrouter, vllm, lmstudio, llamacpp, litellm } = voices;
const usualId = (turn: number): string => `call_${turn}`;
const plain: StrictStyle = {
  callId: usualId,
  reasoning: [{ reasoning_content: 'I look ' }, { reasoning_content: 'it up.' }],
};
const openAiSchemas = toolSchemas(openAiFault, ({ function: { name } }, _index, path, fault) => {
  const context = path === '' ? '()' : `('${path.split('.').join("', '")}')`;
  return openai(
    `Invalid schema for function '${name}': In context=${context}, ${fault}`,
    'tools[0].function.parameters',
  );
});
const kimiSchemas = toolSchemas(typedFault, (_tool, _index, path, fault) =>
  openai(
    `Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path '${path}': ${fault}>`,
  ),
);
const geminiSchemas = toolSchemas(typedFault, (_tool, index, path, fault) =>
  google(`* GenerateContentRequest.tools[0].function_declarations[${index}].parameters.${path}: ${fault}`),
);
const openAiIds = callIds(/^.{1,40}$/, (id, place) =>
  openai(
    `Invalid '${place}': string too long. Expected a string with maximum length 40, but got a string with length ${id.length} instead.`,
    place,
  ),
);
const nineIds = (voice: typeof mistral): Rule =>
  callIds(/^[a-zA-Z0-9]{9}$/, (id) => voice(`Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`));
const extraForbidden = (index: number, name: string) => ({
  status: 422,
  body: {
    object: 'error',
    message: {
      detail: [
        {
          type: 'extra_forbidden',
          loc: ['body', 'messages', index, 'assistant', name],
          msg: 'Extra inputs are not permitted',
          input: 'x',
        },
      ],
    },
    type: 'invalid_request_error',
  },
});
const openAiRules = [
  openAiSchemas,
  maxTools(128, openai),
  uniqueIds(openai),
  openAiIds,
  answeredCalls(openai),
  bodyMembers(['max_tokens'], (name) =>
    openai(
      `Unsupported parameter: '${name}' is not supported with this model. Use 'max_completion_tokens' instead.`,
      name,
    ),
  ),
];
const turns = 'After the optional system message, conversation roles must alternate user/assistant/user/assistant/...';

export const strictKinds: StrictKind[] = [
  { name: 'OpenAI', modelId: 'gpt-5.1', rules: openAiRules, style: plain },
  {
    name: 'Azure',
    modelId: 'gpt-4o',
    rules: [
      ...openAiRules,
      bodyMembers(['stream_options'], (name) => openai(`Unrecognized request argument supplied: ${name}`)),
      assistantMembers([...standard, 'reasoning_content'], (index, name) =>
        openai(`Additional properties are not allowed ('${name}' was unexpected) - 'messages.${index}'`),
      ),
    ],
    style: plain,
  },
  {
    name: 'Groq',
    modelId: 'openai/gpt-oss-120b',
    rules: [
      assistantMembers(standard, (index, name) =>
        openai(
          `'messages.${index}' : for 'role:assistant' the following must be satisfied[('messages.${index}' : property '${name}' is unsupported)]`,
        ),
      ),
      openAiSchemas,
      maxTools(128, openai),
      uniqueIds(openai),
    ],
    style: { callId: (turn) => `fc_${turn}`, reasoning: [{ reasoning: 'I look it up.' }] },
  },
  {
    name: 'Mistral',
    modelId: 'mistral-large-latest',
    rules: [
      assistantMembers([...standard, 'prefix'], extraForbidden),
      nineIds(mistral),
      noUserAfterTool(mistral),
      answeredCalls(mistral),
      uniqueIds(mistral),
      bodyMembers(['stream_options', 'seed'], (name) => ({
        status: 422,
        body: { detail: [{ type: 'extra_forbidden', loc: ['body', name], msg: 'Extra inputs are not permitted' }] },
      })),
    ],
    style: {
      callId: (turn) => `abcdefgh${turn}`,
      reasoning: [{ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'I look it up.' }] }] }],
    },
  },
  {
    name: 'DeepSeek',
    modelId: 'deepseek-v4',
    rules: [
      reasoningInCalls(openai),
      noPictures(openai),
      answeredCalls(openai),
      uniqueIds(openai),
      maxTools(128, openai),
    ],
    style: plain,
  },
  {
    name: 'Kimi',
    modelId: 'kimi-k2-thinking',
    rules: [kimiSchemas, reasoningInCalls(openai), answeredCalls(openai), uniqueIds(openai)],
    style: { ...plain, callId: (turn) => `functions.look:${turn}` },
  },
  {
    name: 'Gemini compatible',
    modelId: 'gemini-3-pro-preview',
    rules: [geminiSchemas, signedCalls(google), answeredCalls(google)],
    style: {
      callId: (turn) => `function-call-${turn}`,
      reasoning: [],
      call: { extra_content: { google: { thought_signature: 'CiQBSIG==' } } },
    },
  },
  {
    name: 'OpenRouter',
    modelId: 'google/gemini-3-pro',
    rules: [openAiSchemas, detailsInCalls(openrouter), answeredCalls(openrouter)],
    style: {
      callId: (turn) => `tool_${turn}_look`,
      reasoning: [
        {
          reasoning: 'I look.',
          reasoning_details: [{ type: 'reasoning.text', text: 'I look.', format: 'google-gemini-v1', index: 0 }],
        },
      ],
      after: (id) => [
        { reasoning_details: [{ type: 'reasoning.encrypted', data: 'AAA', id, format: 'google-gemini-v1', index: 0 }] },
      ],
    },
  },
  {
    name: 'Ollama',
    modelId: 'qwen3:8b',
    rules: [textContent(openai), answeredCalls(openai)],
    style: { callId: () => 'call_0', reasoning: [{ reasoning: 'I look it up.' }] },
  },
  {
    name: 'Ollama with a model without tools and pictures',
    modelId: 'gemma3:4b',
    rules: [noTools(openai), noPictures(openai), textContent(openai)],
    style: plain,
    hasNoTools: true,
  },
  {
    name: 'vLLM with a template of Mistral',
    modelId: 'assistant',
    rules: [nineIds(vllm), noUserAfterTool(vllm), alternatingRoles(vllm, turns)],
    style: { callId: (turn) => `a1b2c3d4${turn}`, reasoning: [{ reasoning: 'I look it up.' }] },
  },
  {
    name: 'LM Studio',
    modelId: 'gemma-3-12b-it',
    rules: [noSystemRole(lmstudio), alternatingRoles(lmstudio, 'Conversation roles must alternate user/assistant')],
    style: { callId: (turn) => String(300_000_000 + turn), reasoning: plain.reasoning },
  },
  {
    name: 'llama.cpp',
    modelId: 'gemma-3-4b.gguf',
    rules: [noSystemRole(llamacpp), alternatingRoles(llamacpp, turns)],
    style: { callId: () => '', reasoning: plain.reasoning },
  },
  {
    name: 'Bedrock through LiteLLM',
    modelId: 'bedrock-claude',
    rules: [
      toolsWithSteps(litellm),
      answeredCalls(litellm),
      uniqueIds(litellm),
      callIds(/^[a-zA-Z0-9_-]{1,64}$/, (_id, place) =>
        litellm(
          `Value at '${place}.toolUse.toolUseId' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+`,
        ),
      ),
    ],
    style: { callId: (turn) => `tooluse_${turn}`, reasoning: plain.reasoning },
  },
];
