import { limits } from '@homeport/contracts/limits';
import { z } from 'zod';

/** Requests of OpenAI's chat completions, as far as we read them. */

const text = z.string().max(limits.programTextMax);
const dataText = z.string().max(limits.gatewayBodyBytes);
const textPart = z.object({ type: z.literal('text'), text });
const refusalPart = z.object({ type: z.literal('refusal'), refusal: text });
const imagePart = z.object({ type: z.literal('image_url'), image_url: z.object({ url: dataText }) });
const filePart = z.object({
  type: z.literal('file'),
  file: z.object({ filename: z.string().max(1000).optional(), file_data: dataText }),
});
const plain = z.union([text, z.array(textPart).max(limits.programPartsMax)]);
const userPart = z.discriminatedUnion('type', [textPart, imagePart, filePart]);
const answered = z.union([
  text,
  z.array(z.discriminatedUnion('type', [textPart, refusalPart])).max(limits.programPartsMax),
]);

/** Names as all providers take them. */
export const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'Letters, digits, _ and -, at most 64');
export const calledName = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[A-Za-z0-9_.-]+$/, 'Letters, digits, and _ . -');
export const callId = z.string().min(1).max(256);
export const jsonSchema = z.record(z.string().max(1000), z.unknown());

const toolCall = z.object({
  id: callId,
  type: z.literal('function').default('function'),
  function: z.object({ name: calledName, arguments: text }),
});
const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: plain }),
  z.object({ role: z.literal('developer'), content: plain }),
  z.object({
    role: z.literal('user'),
    content: z.union([text, z.array(userPart).max(limits.programPartsMax)]),
  }),
  z.object({
    role: z.literal('assistant'),
    content: answered.nullish(),
    refusal: text.nullish(),
    reasoning_content: text.nullish(),
    tool_calls: z.array(toolCall).max(limits.programToolsMax).nullish(),
  }),
  z.object({ role: z.literal('tool'), tool_call_id: callId, content: plain }),
]);
export type ChatRequestMessage = z.infer<typeof message>;

const tool = z.object({
  type: z.literal('function'),
  function: z.object({ name: toolName, description: text.nullish(), parameters: jsonSchema.nullish() }),
});

const namedTool = z.object({ type: z.literal('function'), function: z.object({ name: toolName }) });

export const outputTokens = z.number().int().min(1).max(limits.contextWindowMax).nullish();
/** A request without a model means the person's default. */
export const modelName = z.string().min(1).max(limits.gatewayModelMax).nullish();
export const effort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);
const stopText = z.string().min(1).max(limits.stopTextMax);
const penalty = z.number().min(-2).max(2).nullish();
const formatName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'Letters, digits, _ and -, at most 64');

export const schemaFormat = z.object({
  name: formatName,
  description: text.nullish(),
  schema: jsonSchema.default({ type: 'object' }),
  strict: z.boolean().nullish(),
});

export const chatBody = z.object({
  model: modelName,
  messages: z.array(message).min(1).max(limits.programMessagesMax),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: outputTokens,
  max_completion_tokens: outputTokens,
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop: z.union([stopText, z.array(stopText).max(limits.stopTextsMax)]).nullish(),
  seed: z.number().int().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER).nullish(),
  frequency_penalty: penalty,
  presence_penalty: penalty,
  reasoning_effort: effort.nullish(),
  verbosity: z.enum(['low', 'medium', 'high']).nullish(),
  tools: z.array(tool).max(limits.programToolsMax).nullish(),
  tool_choice: z
    .union([
      z.enum(['auto', 'none', 'required']),
      namedTool,
      z.object({
        type: z.literal('allowed_tools'),
        allowed_tools: z.object({
          mode: z.enum(['auto', 'required']).default('auto'),
          tools: z.array(namedTool).max(limits.programToolsMax),
        }),
      }),
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: z
    .discriminatedUnion('type', [
      z.object({ type: z.literal('text') }),
      z.object({ type: z.literal('json_object') }),
      z.object({ type: z.literal('json_schema'), json_schema: schemaFormat }),
    ])
    .nullish(),
  n: z.number().int().min(1).nullish(),
});
export type ChatBody = z.infer<typeof chatBody>;
