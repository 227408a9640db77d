import { z } from 'zod';

/** Message parts in a manifest: those of the AI SDK UI messages (contract.md section 5), each with its own members. */

const metadata = z.record(z.string(), z.unknown()).optional();
const state = z.enum(['streaming', 'done']).optional();
const approval = z.strictObject({ id: z.string(), approved: z.boolean().optional(), reason: z.string().optional() });
const tool = {
  toolCallId: z.string().min(1).max(256),
  title: z.string().optional(),
  state: z.enum([
    'input-streaming',
    'input-available',
    'approval-requested',
    'approval-responded',
    'output-available',
    'output-denied',
    'output-error',
  ]),
  input: z.unknown().optional(),
  rawInput: z.unknown().optional(),
  output: z.unknown().optional(),
  errorText: z.string().optional(),
  approval: approval.optional(),
  providerExecuted: z.boolean().optional(),
  preliminary: z.boolean().optional(),
  callProviderMetadata: metadata,
  resultProviderMetadata: metadata,
};

const schemas: Readonly<Record<string, z.ZodObject>> = {
  text: z.strictObject({ type: z.string(), text: z.string(), state, providerMetadata: metadata }),
  reasoning: z.strictObject({
    type: z.string(),
    id: z.string().optional(),
    text: z.string(),
    state,
    providerMetadata: metadata,
  }),
  file: z.strictObject({
    type: z.string(),
    mediaType: z.string().min(1).max(255),
    filename: z.string().max(255).optional(),
    url: z.string().min(1),
    providerMetadata: metadata,
  }),
  'step-start': z.strictObject({ type: z.string() }),
  'dynamic-tool': z.strictObject({ type: z.string(), toolName: z.string().min(1).max(256), ...tool }),
  'source-url': z.strictObject({
    type: z.string(),
    sourceId: z.string(),
    url: z.string(),
    title: z.string().optional(),
    providerMetadata: metadata,
  }),
  'source-document': z.strictObject({
    type: z.string(),
    sourceId: z.string(),
    mediaType: z.string(),
    title: z.string(),
    filename: z.string().optional(),
    providerMetadata: metadata,
  }),
};
const namedTool = z.strictObject({ type: z.string(), ...tool });
const data = z.strictObject({ type: z.string(), id: z.string().optional(), data: z.unknown() });

function schemaOf(type: string): z.ZodObject | undefined {
  if (Object.hasOwn(schemas, type)) return schemas[type];
  if (/^tool-./.test(type)) return namedTool;
  return /^data-./.test(type) ? data : undefined;
}

/** One part; its `type` says which members it may have. */
export const manifestPart = z.looseObject({ type: z.string().max(256) }).superRefine((part, context) => {
  const schema = schemaOf(part.type);
  if (schema === undefined) {
    context.addIssue({ code: 'custom', path: ['type'], message: 'Unknown kind of message part' });
    return;
  }
  const result = schema.safeParse(part);
  for (const issue of result.error?.issues ?? []) {
    if (issue.code !== 'unrecognized_keys') {
      context.addIssue({ code: 'custom', path: issue.path, message: issue.message });
      continue;
    }
    for (const key of issue.keys)
      context.addIssue({ code: 'custom', path: [...issue.path, key], message: 'Unknown member' });
  }
});
