import { limits } from '@homeport/contracts/limits';
import { z } from 'zod';
import { calledName, callId, jsonSchema, modelName, toolName } from '../chat/schema.ts';

/** Requests of Anthropic's Messages API, as far as we read them. */

const text = z.string().max(limits.programTextMax);
const dataText = z.string().max(limits.gatewayBodyBytes);
const partsMax = limits.programPartsMax;

const textBlock = z.object({ type: z.literal('text'), text });
const mediaType = z.string().max(100);
const imageBlock = z.object({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [
    z.object({ type: z.literal('base64'), media_type: mediaType, data: dataText }),
    z.object({ type: z.literal('url'), url: z.string().max(4000) }),
  ]),
});
const documentBlock = z.object({
  type: z.literal('document'),
  source: z.discriminatedUnion('type', [
    z.object({ type: z.literal('base64'), media_type: mediaType, data: dataText }),
    z.object({ type: z.literal('text'), media_type: mediaType.optional(), data: text }),
  ]),
  title: z.string().max(1000).nullish(),
});
/** Passages of a search that the client made itself. */
const searchResult = z.object({
  type: z.literal('search_result'),
  source: z.string().max(4000),
  title: z.string().max(1000),
  content: z.array(textBlock).max(partsMax),
});
/** Names a tool that the client has found for the model. */
const toolReference = z.object({ type: z.literal('tool_reference'), tool_name: calledName });
const resultBlock = z.discriminatedUnion('type', [textBlock, imageBlock, documentBlock, searchResult, toolReference]);
const toolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: callId,
  is_error: z.boolean().nullish(),
  content: z.union([text, z.array(resultBlock).max(partsMax)]).nullish(),
});
const userBlock = z.discriminatedUnion('type', [textBlock, imageBlock, documentBlock, searchResult, toolResult]);
const assistantBlock = z.discriminatedUnion('type', [
  textBlock,
  z.object({ type: z.literal('tool_use'), id: callId, name: calledName, input: jsonSchema }),
  z.object({ type: z.literal('thinking'), thinking: text, signature: dataText.default('') }),
  z.object({ type: z.literal('redacted_thinking'), data: dataText }),
]);
const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), content: z.union([text, z.array(userBlock).max(partsMax)]) }),
  z.object({ role: z.literal('assistant'), content: z.union([text, z.array(assistantBlock).max(partsMax)]) }),
  z.object({ role: z.literal('system'), content: z.union([text, z.array(textBlock).max(partsMax)]) }),
]);
export type AnthropicMessage = z.infer<typeof message>;
export type ResultBlock = z.infer<typeof resultBlock>;

const tool = z.object({
  type: z.literal('custom', { error: 'Only tools of the client are supported' }).nullish(),
  name: toolName,
  description: text.nullish(),
  input_schema: jsonSchema,
});
const toolChoice = z.discriminatedUnion('type', [
  z.object({ type: z.literal('auto'), disable_parallel_tool_use: z.boolean().nullish() }),
  z.object({ type: z.literal('any'), disable_parallel_tool_use: z.boolean().nullish() }),
  z.object({ type: z.literal('tool'), name: toolName, disable_parallel_tool_use: z.boolean().nullish() }),
  z.object({ type: z.literal('none') }),
]);

export const countBody = z.object({
  model: modelName,
  system: z.union([text, z.array(textBlock).max(partsMax)]).nullish(),
  messages: z.array(message).min(1).max(limits.programMessagesMax),
  tools: z.array(tool).max(limits.programToolsMax).nullish(),
  tool_choice: toolChoice.nullish(),
  thinking: z
    .discriminatedUnion('type', [
      z.object({
        type: z.literal('enabled'),
        budget_tokens: z.number().int().min(1024).max(limits.contextWindowMax),
      }),
      z.object({ type: z.literal('adaptive') }),
      z.object({ type: z.literal('disabled') }),
    ])
    .nullish(),
  output_config: z
    .object({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      format: z.object({ type: z.literal('json_schema'), schema: jsonSchema }).nullish(),
    })
    .nullish(),
});

export const messagesBody = countBody.extend({
  max_tokens: z.number().int().min(1).max(limits.contextWindowMax),
  stream: z.boolean().nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.number().int().min(0).max(1_000_000).nullish(),
  stop_sequences: z.array(z.string().min(1).max(limits.stopTextMax)).max(limits.stopTextsMax).nullish(),
});
export type CountBody = z.infer<typeof countBody>;
