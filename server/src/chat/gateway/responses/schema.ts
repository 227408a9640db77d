import { limits } from '@homeport/contracts/limits';
import { z } from 'zod';
import {
  calledName,
  callId,
  effort,
  jsonSchema,
  modelName,
  outputTokens,
  schemaFormat,
  toolName,
} from '../chat/schema.ts';

/** Requests of OpenAI's Responses API and of Open Responses, as far as we read them. */

const text = z.string().max(limits.programTextMax);
const dataText = z.string().max(limits.gatewayBodyBytes);
const partsMax = limits.programPartsMax;

const inputPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('input_text'), text }),
  z.object({ type: z.literal('input_image'), image_url: dataText }),
  z.object({ type: z.literal('input_file'), filename: z.string().max(1000).nullish(), file_data: dataText }),
]);
const outputPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('output_text'), text }),
  z.object({ type: z.literal('text'), text }),
  z.object({ type: z.literal('input_text'), text }),
  z.object({ type: z.literal('refusal'), refusal: text }),
]);
const input = z.union([text, z.array(inputPart).max(partsMax)]);

const messageItem = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), content: input }),
  z.object({ role: z.literal('system'), content: input }),
  z.object({ role: z.literal('developer'), content: input }),
  z.object({ role: z.literal('assistant'), content: z.union([text, z.array(outputPart).max(partsMax)]) }),
]);
const reasoningText = z.array(z.object({ text }).catch({ text: '' })).max(partsMax);
const namespace = toolName.nullish();
const otherItem = z.discriminatedUnion('type', [
  z.object({ type: z.literal('function_call'), call_id: callId, name: calledName, namespace, arguments: text }),
  z.object({ type: z.literal('function_call_output'), call_id: callId, output: input }),
  z.object({ type: z.literal('custom_tool_call'), call_id: callId, name: calledName, namespace, input: text }),
  z.object({ type: z.literal('custom_tool_call_output'), call_id: callId, output: input }),
  z.object({
    type: z.literal('reasoning'),
    summary: reasoningText.nullish(),
    content: reasoningText.nullish(),
    encrypted_content: dataText.nullish(),
  }),
]);
export type MessageItem = z.infer<typeof messageItem>;
export type OtherItem = z.infer<typeof otherItem>;

/** A message may leave out its type. */
const item = z
  .object({ type: z.string().max(100).nullish() })
  .loose()
  .transform((value, context): MessageItem | OtherItem => {
    const schema = (value.type ?? 'message') === 'message' ? messageItem : otherItem;
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    for (const issue of result.error.issues) context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue);
    return z.NEVER;
  });

const functionTool = z.object({
  type: z.literal('function'),
  name: toolName,
  description: text.nullish(),
  parameters: jsonSchema.nullish(),
  strict: z.boolean().nullish(),
});
const customTool = z.object({
  type: z.literal('custom'),
  name: toolName,
  description: text.nullish(),
  format: jsonSchema.nullish(),
});
const tool = z.discriminatedUnion('type', [
  functionTool,
  customTool,
  z.object({
    type: z.literal('namespace'),
    name: toolName,
    description: text.nullish(),
    tools: z.array(z.discriminatedUnion('type', [functionTool, customTool])).max(limits.programToolsMax),
  }),
]);

const namedTool = z.object({ type: z.enum(['function', 'custom']), name: toolName, namespace });
const modes = z.enum(['auto', 'none', 'required']);

export const responsesBody = z.object({
  model: modelName,
  input: z.union([text, z.array(item).max(limits.programMessagesMax)]),
  instructions: text.nullish(),
  tools: z.array(tool).max(limits.programToolsMax).nullish(),
  tool_choice: z
    .union([
      modes,
      namedTool,
      z.object({
        type: z.literal('allowed_tools'),
        mode: modes.default('auto'),
        tools: z.array(namedTool).max(limits.programToolsMax),
      }),
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning: z
    .object({ effort: effort.nullish(), summary: z.enum(['auto', 'concise', 'detailed', 'none']).nullish() })
    .nullish(),
  text: z
    .object({
      verbosity: z.enum(['low', 'medium', 'high']).nullish(),
      format: z
        .discriminatedUnion('type', [
          z.object({ type: z.literal('text') }),
          z.object({ type: z.literal('json_object') }),
          schemaFormat.extend({ type: z.literal('json_schema') }),
        ])
        .nullish(),
    })
    .nullish(),
  max_output_tokens: outputTokens,
  max_tool_calls: z.number().int().min(1).max(1_000_000).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  include: z.array(z.string().max(100)).max(20).nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  previous_response_id: z.string().min(1).max(128).nullish(),
  metadata: z.record(z.string().max(64), z.string().max(512)).nullish(),
  safety_identifier: z.string().max(1000).nullish(),
  prompt_cache_key: z.string().max(1000).nullish(),
  service_tier: z.string().max(100).nullish(),
});
export type ResponsesBody = z.infer<typeof responsesBody>;
